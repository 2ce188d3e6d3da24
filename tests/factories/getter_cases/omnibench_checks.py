"""Getters of OmniBench's calls: what was done, what shows, what is set."""

import io
from typing import Any

from PIL import Image, ImageDraw

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.trajectory import Interaction
from backend.domain.ports.desktop import ExecResult
from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeWindow

NS = 'xmlns:st="https://accessibility.ubuntu.example.org/ns/state" xmlns:cp="https://accessibility.ubuntu.example.org/ns/component"'
AT = 'st:showing="true" cp:screencoord="(10, 10)" cp:size="(50, 20)"'
TREE = f'<desktop-frame {NS}><push-button name="Save all" {AT}>Now</push-button><label name="hidden"/></desktop-frame>'
LOG = [
    Interaction(number=1, kind="click", control="Old", role="menu"),
    Interaction(number=2, kind="click", control="Save as...", role="menu item", x=5, y=6, button="left"),
    Interaction(number=3, kind="type", text="hello"),
    Interaction(number=4, kind="type", text="{ctrl+s}"),
    Interaction(number=5, kind="type", text="x"),
]
EMPTY = "<desktop-frame/>"


def logged(since: int = 1) -> FakeContext:
    context = linux(log=list(LOG), tree=TREE)
    context.since = since
    return context


def asking(answer: ExecResult) -> Any:
    return lambda: linux(commands={"gsettings": lambda _: answer})


def window() -> FakeContext:
    return linux(open_windows=[FakeWindow(title="notes.txt - Mousepad")])


def written() -> FakeContext:
    """A screen that says something, large enough to be read."""
    context = linux(tree=EMPTY)
    image = Image.new("RGB", (640, 120), "white")
    ImageDraw.Draw(image).text((20, 30), "Invoice 2025", fill="black", font_size=48)
    data = io.BytesIO()
    image.save(data, "PNG")
    shot = context.desktop.screenshot().model_copy(update={"data": data.getvalue()})
    context.desktop.screenshot = lambda: shot
    return context


def cursor(_: Any) -> dict[str, str]:
    return {"status": "success", "selection": "", "line": "second line", "control": "", "role": "text"}


CASES = {
    "check_mouse_clicks@omnibench": GetterCase(
        parameters={"text": "save as"},
        found=logged,
        value={"text": "save as", "clicks": [{"control": "Save as...", "role": "menu item"}]},
        absent=linux,
        absent_value={"text": "save as", "clicks": []},
    ),
    "check_keyboard_types@omnibench": GetterCase(
        parameters={"text": "hello"},
        found=logged,
        value={"text": "hello", "typed": ["hello", "x"], "keys": ["{ctrl+s}"]},
        absent=linux,
        absent_value={"text": "hello", "typed": [], "keys": []},
    ),
    "check_file_contains@omnibench": GetterCase(
        parameters={"file_path": "/home/user/a.txt", "text": 7},
        found=lambda: linux({"/home/user/a.txt": b"seven: 7"}),
        value={"text": "7", "content": "seven: 7"},
        absent=linux,
        absent_value={"text": "7", "content": None},
    ),
    "check_text_exists_via_control@omnibench": GetterCase(
        parameters={"text": "now"},
        found=logged,
        value={"text": "now", "shown": ["Save all", "Now"]},
        absent=lambda: linux(tree=EMPTY),
        absent_value={"text": "now", "shown": []},
    ),
    "check_text_exists_via_ocr@omnibench": GetterCase(
        parameters={"text": "Invoice"}, found=written, value={"text": "Invoice", "shown": ["Invoice 2025"]}
    ),
    "check_text_exists@omnibench": GetterCase(
        parameters={"text": "Save"}, found=logged, value={"text": "Save", "shown": ["Save all", "Now"]}
    ),
    "check_clipboard_contains@omnibench": GetterCase(
        parameters={"text": "a"},
        found=lambda: linux(clipboard_text="a b"),
        value={"text": "a", "clipboard": "a b"},
        absent=linux,
        absent_value={"text": "a", "clipboard": ""},
    ),
    "check_text_under_cursor@omnibench": GetterCase(
        parameters={"text": "line"},
        found=lambda: linux(routes={("GET", "/text_cursor"): cursor}),
        value={"text": "line", "selection": "", "line": "second line"},
    ),
    "check_window_exists@omnibench": GetterCase(
        parameters={"title": "Mousepad"},
        found=window,
        value={"text": "Mousepad", "titles": ["notes.txt - Mousepad"]},
        absent=linux,
        absent_value={"text": "Mousepad", "titles": []},
    ),
    "check_setting_equals@omnibench": GetterCase(
        parameters={"name": "gsettings org.example tab-size", "value": 4},
        found=asking(ExecResult(returncode=0, output="uint32 4\n")),
        value={"name": "gsettings org.example tab-size", "value": "4", "found": "4"},
        absent=asking(ExecResult(returncode=1, error="No such schema")),
        absent_value=EvaluatorFailed,
        in_desktop=False,
    ),
}
