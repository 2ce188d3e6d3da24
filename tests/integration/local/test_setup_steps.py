"""Set-up steps on a real desktop: each leaves its effect behind when it returns."""

import io
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import ProgramBroken, TaskSetupFailed
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import SetupStep
from backend.domain.ports.desktop import Desktop, DesktopSpec
from backend.domain.setup import run_steps
from tests.error_codes import raises_code, raises_fields
from tests.factories.starter_tasks import FakeContext, make_task
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
URL = "https://files.example/notes.txt"


def picture() -> bytes:
    out = io.BytesIO()
    Image.new("RGB", (64, 48), (200, 30, 30)).save(out, "PNG")
    return out.getvalue()


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("steps")))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    yield provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=1024, height=768))).desktop
    provider.close()


def run(desktop: Desktop, *steps: tuple[str, dict[str, Any]], dialect: str = "osworld") -> FakeContext:
    """Runs steps as a task of that dialect."""
    task = make_task().model_copy(update={"dialect": dialect})
    assets = {URL: b"from the web\n", "own.png": picture()}
    context = FakeContext(desktop, task=task, assets=assets, secrets={"upstream_proxy": "http://proxy.example:1"})
    run_steps(context, [SetupStep(type=kind, parameters=parameters) for kind, parameters in steps])
    return context


def titles(desktop: Desktop) -> list[str]:
    return [window.title for window in desktop.windows()]


class TestFiles:
    def test_files_folders_and_the_recycle_bin(self, desktop: Desktop) -> None:
        run(
            desktop,
            ("create_folder", {"path": "/home/user/new/deep"}),
            ("download", {"files": [{"url": URL, "path": "/home/user/new/deep/notes.txt"}]}),
            ("upload_file", {"files": [{"local_path": "own.png", "path": "/home/user/new/own.png"}]}),
            ("create_file", {"path": "/home/user/new/old.txt", "content": "\u00e4"}),
            ("recycle_file", {"path": "/home/user/new/old.txt"}),
        )
        assert desktop.read_file("/home/user/new/deep/notes.txt") == b"from the web\n"
        assert desktop.read_file("/home/user/new/own.png") == picture()
        assert desktop.read_file("/home/user/.local/share/Trash/files/old.txt") == "\u00e4".encode()
        assert desktop.execute(["ls", "/home/user/new"]).output.split() == ["deep", "own.png"]

    def test_recycling_what_is_not_there_says_which_step(self, desktop: Desktop) -> None:
        with raises_code(TaskSetupFailed, "step_failed", step=2, mentions="recycle_file"):
            run(desktop, ("sleep", {"seconds": 0.1}), ("recycle_file", {"path": "/home/user/nothing"}))


@pytest.mark.sampled(3)
class TestPrograms:
    def test_outputs_are_kept(self, desktop: Desktop) -> None:
        line = "echo {SCREEN_WIDTH}x{SCREEN_HEIGHT_HALF}; echo {CLIENT_PASSWORD} >&2; exit 3"
        context = run(desktop, ("execute", {"command": line, "shell": True, "stdout": "out", "stderr": "err"}))
        assert (context.output("out"), context.output("err")) == (b"1024x384\n", b"password\n")

    def test_a_list_is_not_a_line(self, desktop: Desktop) -> None:
        context = run(desktop, ("command", {"command": ["echo", "a b", "$HOME"], "stdout": "out"}))
        assert context.output("out") == b"a b $HOME\n"

    @pytest.mark.parametrize(
        "step", [{"command": ["no-such-program"]}, {"command": "no-such-program", "shell": "true"}]
    )
    def test_a_missing_program_is_reported(self, desktop: Desktop, step: dict[str, Any]) -> None:
        with raises_fields(TaskSetupFailed, step=1, mentions="execute"):
            run(desktop, ("execute", step))

    def test_execute_repeats_until_the_condition_holds(self, desktop: Desktop) -> None:
        line = "echo x >> /tmp/tries; test $(wc -l < /tmp/tries) -ge 3"
        run(desktop, ("execute", {"command": line, "shell": True, "until": {"returncode": 0}}))
        assert desktop.read_file("/tmp/tries") == b"x\nx\nx\n"

    def test_an_effect_is_awaited(self, desktop: Desktop) -> None:
        step = {"command": "(sleep 0.5; touch /tmp/late) &", "shell": True, "check_interval": 0.1}
        run(desktop, ("execute_with_verification", {**step, "verification": {"command_success": "test -e /tmp/late"}}))
        assert desktop.read_file("/tmp/late") == b""

    def test_an_effect_that_never_comes(self, desktop: Desktop) -> None:
        step = {"command": ["true"], "max_wait_time": 0.3, "check_interval": 0.1}
        with raises_code(TaskSetupFailed, "step_failed", step=1, mentions="execute_with_verification"):
            run(desktop, ("execute_with_verification", {**step, "verification": {"window_exists": "Nothing"}}))

    def test_steps_that_have_no_effect_here(self, desktop: Desktop) -> None:
        before = titles(desktop)
        forward = ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"]
        run(desktop, ("launch", {"command": forward}), ("proxy", {"client_password": ""}))
        assert titles(desktop) == before


@pytest.mark.sampled(2)
class TestWindows:
    def test_open_launch_activate_close(self, desktop: Desktop) -> None:
        if desktop.execute(["sh", "-c", "command -v mousepad && command -v xterm"]).returncode:
            pytest.skip("needs mousepad and xterm: make setup")
        desktop.write_file("/home/user/first.txt", b"one")
        run(
            desktop,
            ("open", {"path": "/home/user/first.txt"}),
            ("launch", {"command": "xterm -T Other"}),
            ("activate_window", {"window_name": "Other", "strict": True}),
            ("activate_window", {"window_name": "first.txt"}),
        )
        active = next(window.title for window in desktop.windows() if window.active)
        assert "first.txt" in active
        run(desktop, ("close_window", {"window_name": active, "strict": True}))
        assert not [title for title in titles(desktop) if "first.txt" in title]
        run(desktop, ("close_all", {}))
        assert titles(desktop) == []

    def test_a_window_that_never_comes(self, desktop: Desktop) -> None:
        with raises_code(TaskSetupFailed, "window_not_opened", mentions="none"):
            run(desktop, ("activate_window", {"window_name": "Nothing"}))

    @pytest.mark.campaign
    @pytest.mark.parametrize(
        ("script", "error", "code"),
        [
            ("exit 1", ProgramBroken, "program_broken"),
            ('[ $# = 0 ] && exec xterm; echo "unknown: $1"; exit 1', TaskSetupFailed, "window_not_opened"),
        ],
    )
    def test_program_without_a_window_fails_the_desktop_or_the_task(
        self, desktop: Desktop, script: str, error: type[TaskSetupFailed], code: str
    ) -> None:
        program = "/home/user/localc"
        run(desktop, ("close_all", {}))
        desktop.write_file(program, f"#!/bin/sh\n{script}\n".encode())
        desktop.execute(["chmod", "755", program])
        with raises_code(error, code, mentions="localc"):
            run(desktop, ("launch", {"command": [program, "--no-such-option"]}))
        run(desktop, ("close_all", {}))

    def test_the_terminal_by_its_keys(self, desktop: Desktop) -> None:
        if desktop.execute(["sh", "-c", "command -v xfce4-terminal || command -v xterm"]).returncode:
            pytest.skip("needs a terminal: make setup")
        keys = "import pyautogui; pyautogui.hotkey('ctrl', 'alt', 't')"
        run(
            desktop,
            ("execute", {"command": ["python", "-c", keys]}),
            ("activate_window", {"window_name": "Terminal"}),
            ("close_all", {}),
        )

    def test_change_wallpaper_shows_the_picture(self, desktop: Desktop) -> None:
        desktop.write_file("/home/user/red.png", picture())
        run(desktop, ("change_wallpaper", {"path": "/home/user/red.png"}))
        with Image.open(io.BytesIO(desktop.screenshot().data)) as screen:
            red, green, blue = screen.convert("RGB").getpixel((512, 600))  # type: ignore[misc]
        assert (red > 150, green < 90, blue < 90) == (True, True, True)

    def test_the_browser_under_its_other_name(self, desktop: Desktop, tmp_path: Path) -> None:
        if desktop.execute(["sh", "-c", "command -v chromium"]).returncode:
            pytest.skip("needs Chromium: make setup APPS=full")
        launch = ["google-chrome", "--remote-debugging-port=1337"]
        run(desktop, ("launch", {"command": launch}), ("activate_window", {"window_name": "Google Chrome"}))
        assert [title for title in titles(desktop) if "Chromium" in title]
        run(desktop, ("set_default_browser", {"browser": "chrome"}), ("close_all", {}), dialect="waa")
        assert "chromium" in desktop.execute(["xdg-settings", "get", "default-web-browser"]).output
