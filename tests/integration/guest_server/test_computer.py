"""The library `computer`, as an agent's code uses it on a real desktop, and the actions that call it."""

import io
from typing import Any

import pytest
from PIL import Image

from backend.domain.actions.computer import ComputerSpace
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Mark
from backend.domain.ports.agent import CoordinateFrame
from tests.integration.guest_server.session import RunningSession, wait
from tests.waiting import until

pytestmark = pytest.mark.desktop

SIGHT = CoordinateFrame(
    screen=ScreenSize(width=1280, height=800),
    marks=(Mark(id=7, kind="control", x=100, y=200, width=40, height=20, origin="tree"),),
)


def act(session: RunningSession, code: str) -> list[dict[str, Any]]:
    """Carries out a reply with that code; the desktop's result of each action."""
    actions = ComputerSpace().parse(f"```decision\nCOMMAND\n```\n```python\n{code}\n```", SIGHT)
    return [dict(session.desktop.perform(action)) for action in actions]


def outcome(session: RunningSession, code: str) -> str:
    """Output of code that only the desktop can run; it must have ended well."""
    (done,) = act(session, f"for _ in range(1):\n    pass\n{code}")
    assert done["returncode"] == 0, done
    return str(done["output"]).strip()


def pointer(session: RunningSession) -> list[int]:
    found: list[int] = session.get("/cursor_position").json()
    return found


@pytest.mark.sampled(3)
class TestMouse:
    def test_move_id_goes_to_the_middle_of_the_element(self, clean: RunningSession) -> None:
        outcome(clean, "computer.mouse.move_id(id=7)")
        assert pointer(clean) == [120, 210]

    def test_move_abs_takes_shares_of_the_screen(self, clean: RunningSession) -> None:
        outcome(clean, "computer.mouse.move_abs(x=0.5, y=0.25)")
        assert pointer(clean) == [640, 200]

    def test_move_abs_takes_shares_of_what_the_agent_sees(self, clean: RunningSession) -> None:
        made = "from deskarena_computer import Computer\nseen = Computer(area=[100, 200, 300, 300])\n"
        outcome(clean, f"{made}seen.mouse.move_abs(x=0.5, y=0.5)")
        assert pointer(clean) == [200, 250]

    @pytest.mark.parametrize("how", ["x=0.5, y=0.5", "0.5, 0.5", "screen_x=640, screen_y=400"])
    def test_drag_takes_shares_and_named_pixels(self, clean: RunningSession, how: str) -> None:
        outcome(clean, f"computer.mouse.move_abs(x=0.1, y=0.1)\ncomputer.mouse.drag({how})")
        assert pointer(clean) == [640, 400]

    def test_the_same_as_typed_actions(self, clean: RunningSession) -> None:
        act(clean, "computer.mouse.move_id(id=7)\ncomputer.mouse.drag(x=0.5, y=0.5)")
        assert pointer(clean) == [640, 400]

    def test_an_element_that_is_not_there_ends_the_code(self, clean: RunningSession) -> None:
        (done,) = act(clean, "for number in [8]:\n    computer.mouse.move_id(number)")
        assert done["returncode"] != 0
        assert "there is no element 8" in done["error"]


@pytest.mark.sampled(2)
class TestKeyboardAndClipboard:
    def test_written_and_pasted_text_arrives(self, clean: RunningSession) -> None:
        path = clean.edit("written.txt")
        outcome(clean, 'computer.keyboard.write("one <2> ")\ncomputer.keyboard.write("drei ü 中")')
        outcome(clean, 'computer.keyboard.press("enter")\ncomputer.clipboard.copy_text("copied")')
        assert clean.desktop.clipboard() == "copied"
        outcome(clean, "computer.clipboard.paste()")
        clean.save(path, "one <2> drei ü 中\ncopied")

    def test_the_same_as_typed_actions(self, clean: RunningSession) -> None:
        path = clean.edit("typed.txt")
        act(clean, 'computer.keyboard.write("a中")\ncomputer.keyboard.press("ctrl+a")\ncomputer.keyboard.press("end")')
        act(clean, 'computer.clipboard.copy_text("b")')
        act(clean, "computer.clipboard.paste()")
        clean.save(path, "a中b")

    def test_copy_text_without_a_text_takes_the_word_under_the_pointer(self, clean: RunningSession) -> None:
        clean.edit("word.txt", "word\n" * 60)
        window = clean.desktop.windows()[-1]
        place = f"x={(window.x + 20) / 1280}, y={(window.y + window.height - 60) / 800}"

        def copied() -> bool:
            """An editor that is still drawing its text takes no double click for a word."""
            outcome(clean, f"computer.mouse.move_abs({place})\ncomputer.clipboard.copy_text()")
            return clean.desktop.clipboard() == "word"

        until(copied, 30.0)
        assert outcome(clean, "print(computer.clipboard.view_clipboard())") == "word"

    def test_copy_image_puts_the_element_on_the_clipboard(self, clean: RunningSession) -> None:
        outcome(clean, 'computer.clipboard.copy_image(7, description="a piece of the wall")')
        script = "import subprocess, sys\nsys.stdout.write(subprocess.check_output(['xclip', '-selection', 'clipboard',"
        done = clean.desktop.run_python(script + " '-o', '-t', 'image/png']).hex())")
        assert Image.open(io.BytesIO(bytes.fromhex(done.output))).size == (40, 20)

    def test_an_unknown_key_ends_the_code(self, clean: RunningSession) -> None:
        (done,) = act(clean, 'for key in ["hyperdrive"]:\n    computer.keyboard.press(key)')
        assert "no key 'hyperdrive'" in done["error"]


@pytest.mark.sampled(2)
class TestProgramsAndWindows:
    def test_a_windows_name_opens_what_this_desktop_has_over_the_whole_screen(self, clean: RunningSession) -> None:
        act(clean, 'computer.os.open_program("notepad")')
        (window,) = clean.desktop.windows()
        assert "mousepad" in window.wm_class.lower()
        assert window.active
        wait(lambda: clean.desktop.windows()[0].width == 1280, "the window over the whole screen")

    def test_a_program_that_is_not_installed_ends_the_code(self, clean: RunningSession) -> None:
        (done,) = act(clean, 'computer.os.open_program("hyperdrive")')
        assert "program 'hyperdrive' is not installed" in done["error"]
        assert (
            outcome(clean, 'print(computer.os.is_installed("hyperdrive"), computer.os.is_installed("xterm"))')
            == "False True"
        )

    def test_switching_takes_the_title_most_like_the_name(self, clean: RunningSession) -> None:
        clean.edit("first.txt")
        clean.desktop.launch(["xterm", "-T", "Second window"])
        wait(lambda: any(w.title == "Second window" and w.active for w in clean.desktop.windows()), "the terminal")
        act(clean, 'computer.window_manager.switch_to_application("first.txt - mousepad")')
        wait(lambda: any("first.txt" in w.title and w.active for w in clean.desktop.windows()), "the editor in front")
        act(clean, 'computer.window_manager.switch_to_app("econd Window")')
        wait(
            lambda: any(w.title == "Second window" and w.active for w in clean.desktop.windows()), "the terminal again"
        )

    def test_a_name_like_no_window_ends_the_code_and_says_which_there_are(self, clean: RunningSession) -> None:
        clean.edit("only.txt")
        (done,) = act(clean, 'computer.window_manager.switch_to_application("zzz qqq")')
        assert "only.txt" in done["error"]

    def test_maximize_window_takes_the_active_one(self, clean: RunningSession) -> None:
        clean.edit("small.txt")
        outcome(clean, "import computer\ncomputer.os.maximize_window()")
        wait(lambda: clean.desktop.windows()[0].width == 1280, "the window over the whole screen")
