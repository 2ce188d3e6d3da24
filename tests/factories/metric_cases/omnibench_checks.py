"""Cases of OmniBench's calls."""

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import Any

from tests.factories.metric_cases import Call, MetricCase


def of(text: str, **facts: Any) -> Callable[[Path], Call]:
    return lambda _: Call(({"text": text, **facts},))


def setting(actual: str | None, value: str) -> Callable[[Path], Call]:
    result: Mapping[str, Any] = {"name": "gsettings a b", "value": value, "found": actual}
    return lambda _: Call((result,))


def case(right: Callable[[Path], Call], wrong: Callable[[Path], Call]) -> MetricCase:
    return MetricCase(passing=right, near_miss=wrong, of_file=False)


def clicked(control: str, **more: str) -> list[dict[str, str]]:
    return [{"control": "Other", "role": "label"}, {"control": control, "role": "push button", **more}]


CASES = {
    "check_mouse_clicks@omnibench": case(
        of("save", clicks=clicked("", read="File Save Edit")), of("save", clicks=clicked("Saved"))
    ),
    "check_keyboard_types@omnibench": case(
        of("a{enter}b", typed=["xa\nbc"], keys=[]), of("ab", typed=["a", "b"], keys=["{ctrl+a}"])
    ),
    "check_file_contains@omnibench": case(of("Two  words", content="one, two\nwords"), of("two", content=None)),
    "check_text_exists_via_control@omnibench": case(of("OK", shown=["ok"]), of("OK", shown=["book"])),
    "check_text_exists_via_ocr@omnibench": case(of("OK", shown=["press ok now"]), of("OK", shown=[""])),
    "check_text_exists@omnibench": case(of("OK", shown=["OK..."]), of("OK", shown=["o k"])),
    "check_clipboard_contains@omnibench": case(of("ab", clipboard="xAByz"), of("ab", clipboard="a b")),
    "check_text_under_cursor@omnibench": case(
        of("two", selection="", line="one two"), of("two", selection="one", line="one two")
    ),
    "check_window_exists@omnibench": case(of("mousepad", titles=["a - Mousepad"]), of("mousepad", titles=["Thunar"])),
    "check_setting_equals@omnibench": case(setting("4.0", "4"), setting(None, "4")),
}
