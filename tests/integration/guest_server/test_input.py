"""Mouse and keyboard, verified through what applications make of them."""

import io
import random
import string
from pathlib import Path
from typing import Any

import pytest
from PIL import Image, ImageChops

from backend.domain.actions.pyautogui import Pyautogui
from backend.domain.errors import GuestRefused
from backend.domain.model.trajectory import Action, ActionType
from guest_server.protocol.keys import KEYBOARD_KEYS, WITHOUT_KEY
from tests.integration.guest_server.session import RunningSession, wait

pytestmark = pytest.mark.desktop

MENU_PIXELS = 4000
"""A menu changes more pixels than this, a pointer fewer."""
ASCII = "".join(chr(code) for code in range(0x20, 0x7F))
UNICODE = {
    "latin": "éàüßÀÉÑøåœŒÿŸı",
    "greek and cyrillic": "αβγΩЖяёЁ",
    "asian": "中文字テスト한국어",
    "right to left": "שלוםمرحبا",
    "signs": "€£¥“”‘’–—…→∑√≠°±×÷©®™",  # noqa: RUF001
    "emoji": "😀👍🏽👩\u200d💻🇩🇪❤\ufe0f",
    "combining": "e\u0301a\u0308",
}


@pytest.mark.sampled(5)
class TestTyping:
    def test_every_printable_ascii_character(self, clean: RunningSession) -> None:
        path = clean.edit("ascii.txt")
        clean.input({"type": "type", "text": ASCII})
        clean.save(path, ASCII)

    @pytest.mark.parametrize("text", UNICODE.values(), ids=UNICODE.keys())
    def test_every_unicode_character_is_typed(self, clean: RunningSession, text: str) -> None:
        path = clean.edit("unicode.txt")
        clean.input({"type": "type", "text": text})
        clean.save(path, text)

    def test_more_characters_than_there_are_spare_keys(self, clean: RunningSession) -> None:
        """Each of 600 different characters is bound to a key temporarily; none is lost, doubled or wrong."""
        drawn = random.sample(range(0x4E00, 0x9FFF), 600)
        text = "\n".join("".join(map(chr, drawn[start : start + 60])) for start in range(0, 600, 60))
        path = clean.edit("many.txt")
        clean.input({"type": "type", "text": text})
        clean.save(path, text)

    def test_a_long_text_in_one_go(self, clean: RunningSession) -> None:
        text = "".join(random.choices(string.ascii_letters + string.digits + " <>.,;é中" + "\n" * 4, k=1000))
        path = clean.edit("long.txt")
        clean.input({"type": "type", "text": text})
        clean.save(path, text)

    def test_lines_tabs_and_backspace(self, clean: RunningSession) -> None:
        path = clean.edit("lines.txt")
        clean.input({"type": "type", "text": "a\tb\r\nx\bc\rd"})
        clean.save(path, "a\tb\nc\nd")

    def test_caps_lock_changes_nothing(self, clean: RunningSession) -> None:
        path = clean.edit("caps.txt")
        clean.input({"type": "press", "key": "capslock"}, {"type": "type", "text": "aBé中1!"})
        clean.input({"type": "press", "key": "x"}, {"type": "press", "key": "capslock"}, {"type": "press", "key": "x"})
        clean.save(path, "aBé中1!Xx")

    def test_typing_is_independent_of_the_layout(self, clean: RunningSession) -> None:
        path = clean.edit("layout.txt")
        try:
            assert clean.desktop.execute(["setxkbmap", "de"]).returncode == 0
            clean.input({"type": "type", "text": "yz<>|@#{}ß中"})
            # The editor looks keys up when it reads them: in the layout that there is then.
            clean.save(path, "yz<>|@#{}ß中")
        finally:
            clean.desktop.execute(["setxkbmap", "us"])
        clean.input({"type": "type", "text": "yz<>|@"})
        clean.save(path, "yz<>|@#{}ß中yz<>|@")
        # pyautogui needs the layout `us`, but not that we have typed since somebody set it.
        done = clean.desktop.execute(["sh", "-c", "setxkbmap us && sleep 0.3"])
        assert done.returncode == 0
        assert clean.desktop.run_python("import pyautogui; pyautogui.write('<a>')").returncode == 0
        clean.save(path, "yz<>|@#{}ß中yz<>|@<a>")

    def test_a_program_that_answers_no_pings(self, clean: RunningSession) -> None:
        """xterm shows what is typed without the window manager's protocol; more characters than spare keys."""
        target = clean.home / "xterm.txt"
        clean.desktop.launch(["xterm", "-e", f"stty -icanon; head -c 900 > {target}"])
        wait(lambda: [w for w in clean.desktop.windows() if w.active], "the terminal")
        wait(target.exists, "the shell in it")
        text = "".join(map(chr, random.sample(range(0x4E00, 0x9FFF), 300)))
        clean.input({"type": "type", "text": text})
        wait(lambda: target.stat().st_size == 900, lambda: target.read_text("utf-8", "replace"))
        assert target.read_text("utf-8") == text


@pytest.mark.sampled(3)
class TestTypingByCode:
    """Code that is no plain call types what plain calls type."""

    def test_the_first_key_of_a_desktop(self, tmp_path: Path) -> None:
        with RunningSession(tmp_path) as fresh:
            path = fresh.edit("first.txt")
            result = by_code(fresh, "for w in ['a<b>c','<<']:\n    pyautogui.write(w+'\\n')")
            assert (result["returncode"], result["error"]) == (0, "")
            fresh.save(path, "a<b>c\n<<\n")

    @pytest.mark.parametrize(
        ("code", "text"),
        [
            ("t='if a < b: é €'\npyautogui.write(t)", "if a < b: é €"),
            ("n = 3\npyautogui.typewrite(f'{n} € 中 😀')", "3 € 中 😀"),
            ("pyautogui.moveRel(1, 1)\npyautogui.write('A<é' * 3, interval=0.01)", "A<éA<éA<é"),
            ("for key in ['<', 'é', 'enter', '€', 'Б']:\n    pyautogui.press(key)", "<é\n€Б"),
            ("with pyautogui.hold('shift'):\n    pyautogui.press('a')\npyautogui.write('ß')", "Aß"),
            ("from pyautogui import write as w\nw('ŝ>')", "ŝ>"),
            ("w = getattr(pyautogui, 'wri' + 'te')\nw(message='{}<{}'.format('ä', 1))", "ä<1"),
            ("pyautogui.typewrite(list('<é') + ['enter'], interval=0.01)", "<é\n"),
            ("x = 0.01\npyautogui.hotkey(keys=['shift', 'b'], interval=x)", "B"),
            ("import pyperclip\npyperclip.copy('<é 中 😀>')\npyautogui.hotkey('ctrl', 'v')", "<é 中 😀>"),
            ("# -*- coding: latin-1 -*-\nt = 'é<'\npyautogui.write(t)", "é<"),
        ],
    )
    def test_as_plain_calls_do(self, clean: RunningSession, code: str, text: str) -> None:
        path = clean.edit("code.txt")
        result = by_code(clean, code)
        assert (result["returncode"], result["error"]) == (0, "")
        clean.save(path, text)

    def test_by_a_program_of_the_desktop(self, clean: RunningSession) -> None:
        path = clean.edit("program.txt")
        clean.desktop.execute(["python3", "-c", "import pyautogui\nfor c in 'é<': pyautogui.write(c)"])
        clean.save(path, "é<")

    def test_untypable_characters_are_reported(self, clean: RunningSession) -> None:
        path = clean.edit("unknown.txt")
        result = by_code(clean, "for key in ['hyperdrive', 'a']:\n    pyautogui.press(key)")
        assert (result["returncode"], "'hyperdrive'" in result["error"]) == (0, True)
        clean.save(path, "a")


def by_code(session: RunningSession, code: str) -> dict[str, Any]:
    """The result of a reply with that code; only Python can run it."""
    (action,) = Pyautogui().parse(f"```python\n{code}\n```")
    assert action.type is ActionType.PYTHON
    return dict(session.desktop.perform(action))


class TestKeys:
    def test_every_key_of_pyautogui_is_taken_or_refused_by_name(self, clean: RunningSession) -> None:
        clean.edit("keys.txt")
        # Not those that end, close or hide something, nor F11: the editor would be full-screen for good.
        for key in sorted(
            KEYBOARD_KEYS - WITHOUT_KEY - {"sleep", "apps", "win", "winleft", "winright", "command", "f11"}
        ):
            clean.input({"type": "press", "key": key}, {"type": "press", "key": "esc"})
        clean.input({"type": "press", "key": "capslock"}, {"type": "press", "key": "numlock"})

    @pytest.mark.parametrize("key", [*sorted(WITHOUT_KEY), "superkey", ""])
    def test_an_unknown_one(self, session: RunningSession, key: str) -> None:
        response = session.http.post("/input", json=[{"type": "press", "key": key}])
        assert response.json()["error"] == "unknown_key"
        assert response.status_code == 422

    def test_number_pad_keys_are_digits_with_and_without_num_lock(self, clean: RunningSession) -> None:
        path = clean.edit("pad.txt")
        digits = [{"type": "press", "key": f"num{digit}"} for digit in range(10)]
        clean.input(*digits, {"type": "press", "key": "numlock"}, *digits, {"type": "press", "key": "numlock"})
        clean.save(path, "01234567890123456789")

    def test_hotkeys_and_held_keys(self, clean: RunningSession) -> None:
        path = clean.edit("hot.txt")
        clean.input(
            {"type": "type", "text": "one two"},
            {"type": "hotkey", "keys": ["ctrl", "a"]},
            {"type": "hotkey", "keys": ["ctrl", "c"]},
            {"type": "press", "key": "end"},
            {"type": "hotkey", "keys": ["ctrl", "v"]},
            {"type": "key_down", "key": "shift"},
            {"type": "press", "key": "left", "times": 3},
            {"type": "key_up", "key": "shift"},
            {"type": "type", "text": "2"},
        )
        clean.save(path, "one twoone 2")

    def test_pyautogui_types_less_and_greater(self, clean: RunningSession) -> None:
        path = clean.edit("pyautogui.txt")
        done = clean.desktop.run_python(f"import pyautogui; pyautogui.write({ASCII!r})")
        assert (done.returncode, done.error) == (0, "")
        clean.save(path, ASCII)


@pytest.mark.sampled(3)
class TestMouse:
    def test_a_click_goes_where_it_says(self, clean: RunningSession) -> None:
        path = clean.edit("click.txt", "first\nsecond\n")
        window = clean.desktop.windows()[-1]
        clean.input({"type": "hotkey", "keys": ["ctrl", "home"]}, {"type": "type", "text": "A"})
        clean.input({"type": "click", "x": window.x + window.width - 30, "y": window.y + window.height - 60})
        clean.input({"type": "type", "text": "Z"})
        clean.save(path, "Afirst\nsecond\nZ")

    def test_two_clicks_select_the_word(self, clean: RunningSession) -> None:
        """The editor counts clicks by its own clock: on a busy machine it may take two for one and one."""
        path = clean.edit("double.txt", "some words")
        x, y = text_position(clean)

        def selected() -> bool:
            clean.get("/stable", quiet=1.0, timeout=5)  # Longer than a double click, so that tries do not add up.
            clean.input({"type": "click", "x": x + 5, "y": y + 8, "num": 2}, {"type": "hotkey", "keys": ["ctrl", "c"]})
            return clean.desktop.clipboard() == "some"

        clean.post("/clipboard", {"text": "nothing"})
        wait(selected, lambda: repr(clean.desktop.clipboard()), 20)
        clean.input({"type": "type", "text": "new"})
        clean.save(path, "new words")

    def test_a_drag_selects(self, clean: RunningSession) -> None:
        path = clean.edit("drag.txt", "some words")
        x, y = text_position(clean)
        clean.input({"type": "move", "x": x + 1, "y": y + 8}, {"type": "drag", "x": x + 600, "y": y + 8})
        clean.input({"type": "type", "text": "new"})
        clean.save(path, "new")

    def test_a_drag_by_the_title_moves_the_window(self, clean: RunningSession) -> None:
        clean.edit("move.txt")
        before = clean.desktop.windows()[-1]
        clean.input({"type": "move", "x": before.x + 100, "y": before.y + 8})
        clean.input({"type": "drag", "x": before.x + 150, "y": before.y + 78})
        after = clean.desktop.windows()[-1]
        assert (after.x, after.y) == (before.x + 50, before.y + 70)

    def test_the_right_button_opens_the_desktop_menu(self, clean: RunningSession) -> None:
        def seen() -> Image.Image:
            return Image.open(io.BytesIO(clean.desktop.screenshot().data)).convert("RGB")

        def differing(one: Image.Image, other: Image.Image) -> int:
            return sum(ImageChops.difference(one, other).convert("L").histogram()[1:])

        clean.input({"type": "move", "x": 40, "y": 700})
        clean.get("/stable", quiet=0.2)
        before = seen()
        clean.input({"type": "click", "button": "right"})
        wait(lambda: differing(before, seen()) > MENU_PIXELS, "a menu")

        def gone() -> bool:
            """It takes the keyboard some time after it is drawn; the pointer may look otherwise afterwards."""
            clean.input({"type": "press", "key": "esc"})
            clean.get("/stable", quiet=0.2)
            return differing(before, seen()) < MENU_PIXELS

        wait(gone, "no menu")

    def test_the_wheel_scrolls(self, clean: RunningSession) -> None:
        clean.edit("wheel.txt", "\n".join(map(str, range(500))))
        clean.input({"type": "hotkey", "keys": ["ctrl", "home"]})
        clean.get("/stable", quiet=0.3)
        top = clean.desktop.screenshot().data
        clean.input({"type": "scroll", "dy": -5})
        wait(lambda: clean.desktop.screenshot().data != top, "the text scrolls down")
        clean.input({"type": "scroll", "dy": 50})
        wait(lambda: clean.desktop.screenshot().data == top, "and up again")

    def test_a_slow_move_passes_between(self, session: RunningSession) -> None:
        """A program that looks at the pointer sees it on its way."""
        session.input({"type": "move", "x": 0, "y": 0})
        seen = session.home / "seen"
        watch = f"import pyautogui, time; open({str(seen)!r}, 'w').close(); places = set(); end = time.time() + 20\n"
        watch += "while time.time() < end and (300, 300) not in places: places.add(tuple(pyautogui.position()))\n"
        watch += f"open({str(seen)!r}, 'w').write(str(len(places)))"
        session.desktop.launch(["python3", "-c", watch])
        wait(seen.exists, "the watcher")
        session.input({"type": "move", "x": 300, "y": 300, "duration": 0.5})
        wait(seen.read_text, "what was seen", 30)
        assert int(seen.read_text()) > 5


def text_position(session: RunningSession) -> tuple[int, int]:
    """Where the editor's text area begins, from the accessibility tree."""
    import re

    tree = session.get("/accessibility").json()["AT"]
    found = re.search(r'<text [^>]*st:multi-line="true"[^>]*cp:screencoord="\((\d+), (\d+)\)"', tree)
    assert found, tree[:3000]
    return int(found[1]), int(found[2])


class TestRefusals:
    @pytest.mark.parametrize(
        ("events", "kind"),
        [
            ({"events": "click"}, "bad_request"),
            ([{"type": "move", "x": 1281, "y": 0}], "off_screen"),
            ([{"type": "click", "x": -1, "y": 0}], "off_screen"),
            ([{"type": "jump"}], "bad_request"),
            ([{"type": "type", "text": "x" * 100_001}], "too_large"),
            ([{"type": "click"}] * 1001, "too_large"),
        ],
    )
    def test_invalid_list_executes_nothing(self, session: RunningSession, events: Any, kind: str) -> None:
        session.input({"type": "move", "x": 11, "y": 12})
        if isinstance(events, list) and len(events) < 10:
            events = [{"type": "move", "x": 500, "y": 500}, *events]
        response = session.http.post("/input", json=events)
        assert response.json()["error"] == kind
        assert session.get("/cursor_position").json() == [11, 12]

    def test_the_edge_itself_counts_as_the_last_pixel(self, session: RunningSession) -> None:
        session.input({"type": "move", "x": 1280, "y": 800})
        assert session.get("/cursor_position").json() == [1279, 799]


class TestPerform:
    """The same through the Desktop port."""

    def test_actions_are_performed_in_order(self, clean: RunningSession) -> None:
        path = clean.edit("port.txt")
        for action in (
            Action(type=ActionType.TYPING, text="é<中 x"),
            Action(type=ActionType.PRESS, keys=("backspace",)),
            Action(type=ActionType.KEY_DOWN, keys=("shift",)),
            Action(type=ActionType.PRESS, keys=("a",)),
            Action(type=ActionType.KEY_UP, keys=("shift",)),
            Action(type=ActionType.MOVE_TO, x=100, y=100),
            Action(type=ActionType.SCROLL, dy=-1),
        ):
            assert clean.desktop.perform(action) == {}
        clean.save(path, "é<中 A")

    def test_python_runs_in_the_guest(self, session: RunningSession) -> None:
        action = Action(type=ActionType.PYTHON, text="import os, sys; print(os.getpid()); sys.exit(3)")
        result = session.desktop.perform(action)
        assert result["returncode"] == 3
        assert int(result["output"]) > 0

    def test_an_unknown_key(self, session: RunningSession) -> None:
        with pytest.raises(GuestRefused) as caught:
            session.desktop.perform(Action(type=ActionType.PRESS, keys=("nokey",)))
        assert caught.value.kind == "unknown_key"
