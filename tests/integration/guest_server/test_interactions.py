"""The log of mouse and keyboard, by what was really done in real applications."""

import base64
import os
import signal
from collections.abc import Callable
from pathlib import Path
from typing import Any

import httpx
import pytest

from backend.domain.formats.accessibility import Widget, widgets
from backend.domain.model.trajectory import Interaction
from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop
PYTHON = "import pyautogui; pyautogui.PAUSE = 0; pyautogui.write('by code'); pyautogui.press('enter')"


def latest(session: RunningSession) -> int:
    """The number of the last entry."""
    found = [0, *(entry.number for entry in session.desktop.interactions())]
    return found[-1]


def shown(session: RunningSession, role: str, name: str = "") -> Widget:
    """A widget on the screen, waited for."""

    def found() -> list[Widget]:
        every = widgets(session.desktop.accessibility_tree())
        return [one for one in every if one.on_screen and one.role == role and name in {"", one.name.strip()}]

    widget: Widget = wait(found, f"{role} {name}")[-1]
    return widget


def middle(widget: Widget) -> dict[str, Any]:
    assert widget.rect is not None
    x, y, width, height = widget.rect
    return {"x": x + width // 2, "y": y + height // 2}


@pytest.fixture
def editor(clean: RunningSession) -> RunningSession:
    """An editor with the focus, and the log from then on."""
    clean.edit("log.txt")
    latest(clean)
    return clean


@pytest.mark.sampled(2)
class TestClicks:
    def test_the_item_of_a_menu_that_closes_at_once(self, editor: RunningSession) -> None:
        since = latest(editor)
        editor.input({"type": "click", **middle(shown(editor, "menu", "Edit"))})
        item = shown(editor, "menu-item", "Select All")
        editor.input({"type": "click", **middle(item)})
        told = editor.desktop.interactions(since)
        assert [(one.kind, one.button, one.control, one.role) for one in told] == [
            ("click", "left", "Edit", "menu"),
            ("click", "left", "Select All", "menu item"),
        ]
        assert told[1].rect == item.rect
        assert "log.txt" in told[1].window
        assert told[1].picture == ""

    def test_buttons_and_a_double_click(self, editor: RunningSession) -> None:
        since, place = latest(editor), middle(shown(editor, "text"))
        editor.input({"type": "click", "num": 2, **place}, {"type": "click", "button": "right", **place})
        told = editor.desktop.interactions(since)
        assert [(one.button, one.role) for one in told] == [("left", "text"), ("left", "text"), ("right", "text")]
        assert (told[0].x, told[0].y) == (place["x"], place["y"])
        editor.input({"type": "press", "key": "esc"})

    def test_a_program_that_names_nothing_is_pictured(self, clean: RunningSession) -> None:
        clean.desktop.launch(["xterm"])
        window = wait(lambda: [one for one in clean.desktop.windows() if one.active], "xterm")[0]
        since = latest(clean)
        clean.input({"type": "click", "x": window.x + 100, "y": window.y + 100})
        clean.input({"type": "click", "x": window.x + window.width // 2, "y": window.y + 8})
        inside, above = clean.desktop.interactions(since)
        assert (inside.control, inside.role) == ("", "")
        assert base64.b64decode(inside.picture).startswith(b"\x89PNG")
        assert (above.role, above.picture) == ("title bar", "")

    def test_click_on_the_empty_desktop_has_no_widget(self, clean: RunningSession) -> None:
        since = latest(clean)
        clean.input({"type": "click", "x": 1200, "y": 700})
        [told] = clean.desktop.interactions(since)
        assert (told.control, told.role, told.picture, told.window) == ("", "", "", "")


@pytest.mark.sampled(2)
class TestTyping:
    def test_texts_keys_and_combinations(self, editor: RunningSession) -> None:
        since = latest(editor)
        editor.input(
            {"type": "type", "text": "Grüße, 世界 €\nnext"},
            {"type": "hotkey", "keys": ["ctrl", "shift", "home"]},
            {"type": "press", "key": "backspace"},
            {"type": "scroll", "dy": -1},
        )
        told = editor.desktop.interactions(since)
        assert [one.text for one in told] == ["Grüße, 世界 €", "{enter}", "next", "{ctrl+shift+home}", "{backspace}"]
        assert {one.role for one in told} == {"text"}
        assert all("log.txt" in one.window for one in told)

    def test_input_that_did_not_come_through_the_api(self, editor: RunningSession) -> None:
        since = latest(editor)
        editor.post("/run_python", {"code": PYTHON})
        assert [one.text for one in editor.desktop.interactions(since)] == ["by code", "{enter}"]

    def test_keys_of_another_layout_are_logged_as_text(self, editor: RunningSession) -> None:
        editor.post("/execute", {"command": ["setxkbmap", "de"]})
        try:
            since = latest(editor)
            editor.post("/execute", {"command": ["xdotool", "key", "y", "udiaeresis", "at"]})
            assert "".join(one.text for one in editor.desktop.interactions(since)) == "yü@"
        finally:
            editor.post("/execute", {"command": ["setxkbmap", "us"]})

    def test_the_focused_control_after_the_focus_has_moved(self, editor: RunningSession) -> None:
        body = shown(editor, "text")
        editor.input({"type": "hotkey", "keys": ["ctrl", "f"]})
        wait(lambda: shown(editor, "text").rect != body.rect, "the search's own text")
        since = latest(editor)
        editor.input({"type": "type", "text": "word"})
        [told] = editor.desktop.interactions(since)
        assert told.role == "text"
        assert told.rect is not None
        assert told.rect != body.rect
        editor.input({"type": "press", "key": "esc"})


class TestTextCursor:
    def test_the_line_and_what_is_selected(self, clean: RunningSession) -> None:
        clean.edit("cursor.txt", "first line\nsecond line\nthird")
        clean.input({"type": "hotkey", "keys": ["ctrl", "home"]}, {"type": "press", "key": "down"})
        wait(lambda: clean.get("/text_cursor").json()["line"] == "second line", "the second line")
        clean.input({"type": "hotkey", "keys": ["shift", "end"]})
        told = wait(lambda: (found := clean.get("/text_cursor").json())["selection"] and found, "a selection")
        assert (told["selection"], told["role"]) == ("second line", "text")

    def test_no_window_has_no_text_cursor(self, clean: RunningSession) -> None:
        assert clean.get("/text_cursor").json()["line"] == ""


class TestTheLog:
    def test_the_probe_names_it(self, session: RunningSession) -> None:
        assert "interactions" in session.desktop.probe().capabilities

    def test_a_wrong_number_is_refused(self, session: RunningSession) -> None:
        response = session.http.get("/interactions", params={"since": "x"})
        assert (response.status_code, response.json()["error"]) == (400, "bad_request")

    def test_entries_are_returned_once(self, clean: RunningSession) -> None:
        clean.input({"type": "click", "x": 5, "y": 5})
        since = latest(clean)
        assert list(clean.desktop.interactions(since)) == []

    def test_helper_starts_with_the_first_request(self, tmp_path: Path) -> None:
        with RunningSession(tmp_path) as fresh:
            assert not helpers(fresh)
            fresh.input({"type": "click", "x": 5, "y": 5})
            assert list(fresh.desktop.interactions()) == []
            assert len(helpers(fresh)) == 1
            fresh.input({"type": "click", "x": 6, "y": 5})
            assert [one.x for one in fresh.desktop.interactions()] == [6]
            _a_log_with_a_gap_is_none(fresh)


def _a_log_with_a_gap_is_none(session: RunningSession) -> None:
    """After the helper is killed, the log reports that it was interrupted, and input continues."""
    os.kill(helpers(session)[0], signal.SIGKILL)
    session.input({"type": "click", "x": 7, "y": 5})
    for _ in range(2):
        response: httpx.Response = session.http.get("/interactions")
        assert (response.status_code, response.json()["error"]) == (500, "failed")


def helpers(session: RunningSession) -> list[int]:
    """Process numbers of the session's helpers."""
    own = session.ready["pid"]
    is_helper: Callable[[Path], bool] = lambda path: b"interactions_helper" in (path / "cmdline").read_bytes()  # noqa: E731
    found = []
    for path in Path("/proc").glob("[0-9]*"):
        try:
            if is_helper(path) and f"\nPPid:\t{own}\n" in (path / "status").read_text():
                found.append(int(path.name))
        except (FileNotFoundError, ProcessLookupError):
            continue
    return found


def test_an_entry_is_the_ports(session: RunningSession) -> None:
    entry = session.get("/interactions").json()["interactions"]
    assert all(Interaction.model_validate(one) for one in entry)
