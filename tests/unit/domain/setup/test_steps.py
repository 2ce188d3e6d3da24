from collections.abc import Sequence
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import GuestLost, GuestRefused, Invalid, TaskSetupFailed
from backend.domain.ports import ExecResult
from backend.domain.setup import check_step, run_step, run_steps
from backend.domain.task import SetupStep
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop, FakeWindow

registry.load()


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop()


def context(desktop: FakeDesktop, **assets: bytes) -> FakeContext:
    return FakeContext(desktop, assets=assets)


def listen(desktop: FakeDesktop, program: str, returncode: int = 0) -> list[str]:
    """Gives the desktop a program; the list will hold all words that it was called with."""
    said: list[str] = []

    def run(words: Sequence[str]) -> ExecResult:
        said.extend(words)
        return ExecResult(returncode=returncode)

    desktop.commands[program] = run
    return said


class TestRunSteps:
    def test_in_order(self, desktop: FakeDesktop) -> None:
        steps = [
            SetupStep(type="create_file", parameters={"path": "/a", "content": "one"}),
            SetupStep(type="open", parameters={"path": "/a"}),
        ]
        run_steps(context(desktop), steps)
        assert desktop.open_windows[0].text == "one"

    def test_a_refused_step_says_which(self, desktop: FakeDesktop) -> None:
        steps = [
            SetupStep(type="execute", parameters={"command": "true"}),
            SetupStep(type="open", parameters={"path": "/a"}),
        ]
        with pytest.raises(TaskSetupFailed, match="set-up step 2: open: no such file") as failed:
            run_steps(context(desktop), steps)
        assert failed.value.step == 2

    def test_an_unknown_step_type_fails(self, desktop: FakeDesktop) -> None:
        with pytest.raises(TaskSetupFailed, match="no setup called 'opn'"):
            run_steps(context(desktop), [SetupStep(type="opn")])

    def test_a_dead_desktop_is_a_loss_of_its_own_class(self, desktop: FakeDesktop) -> None:
        desktop.die()
        with pytest.raises(GuestLost):
            run_steps(context(desktop), [SetupStep(type="execute", parameters={"command": "true"})])


class TestCheckStep:
    @pytest.mark.parametrize(
        ("kind", "parameters", "where"),
        [
            ("download", {"files": [{"url": "https://a.example/x", "path": "/x"}]}, "files.0.url"),
            ("download", {"files": [{"url": "asset:", "path": "/x"}]}, "files.0.url"),
            ("download", {"files": [{"url": "asset:x"}]}, "files.0.path"),
            ("execute", {"command": "true", "stdout": "out.txt"}, "stdout"),
            ("execute", {"command": ["echo", "{CLIENT_PASSWORD}"]}, "command"),
            ("sleep", {"seconds": 6000}, "seconds"),
            ("activate_window", {"name": "x"}, "window_name"),
        ],
    )
    def test_a_wrong_parameter_is_named(self, kind: str, parameters: dict[str, Any], where: str) -> None:
        with pytest.raises(Invalid) as wrong:
            check_step(SetupStep(type=kind, parameters=parameters), "starter")
        assert wrong.value.path == where


class TestFiles:
    @pytest.mark.parametrize(
        ("kind", "file"),
        [("download", {"url": "asset:a", "path": "/x"}), ("upload_file", {"local_path": "a", "path": "/x"})],
    )
    def test_an_asset_arrives(self, desktop: FakeDesktop, kind: str, file: dict[str, str]) -> None:
        run_step(context(desktop, a=b"data"), kind, {"files": [file]})
        assert desktop.files == {"/x": b"data"}

    def test_a_missing_asset_fails(self, desktop: FakeDesktop) -> None:
        with pytest.raises(TaskSetupFailed, match="no asset 'a'"):
            run_step(context(desktop), "download", {"files": [{"url": "asset:a", "path": "/x"}]})

    def test_create_file_writes_utf8(self, desktop: FakeDesktop) -> None:
        run_step(context(desktop), "create_file", {"path": "/x", "content": "\u00e4"})
        assert desktop.files == {"/x": b"\xc3\xa4"}

    def test_create_folder_that_fails(self, desktop: FakeDesktop) -> None:
        desktop.commands["python"] = lambda _: ExecResult(returncode=1, error="read-only")
        with pytest.raises(TaskSetupFailed, match="read-only"):
            run_step(context(desktop), "create_folder", {"path": "/x"})


class TestExecute:
    @pytest.mark.parametrize("kind", ["execute", "command"])
    def test_a_failing_program_fails_the_task(self, desktop: FakeDesktop, kind: str) -> None:
        with pytest.raises(TaskSetupFailed, match="exit code 1"):
            run_step(context(desktop), kind, {"command": "false"})

    def test_the_screens_size_is_filled_in(self, desktop: FakeDesktop) -> None:
        said = listen(desktop, "say")
        run_step(context(desktop), "execute", {"command": ["say", "{SCREEN_WIDTH}x{SCREEN_HEIGHT_HALF}"]})
        assert said == ["640x240"]

    def test_until_tries_again(self, desktop: FakeDesktop) -> None:
        outputs = iter(["no", "no", "ready"])
        desktop.commands["ask"] = lambda _: ExecResult(returncode=1, output=next(outputs))
        run_step(context(desktop), "execute", {"command": "ask", "until": {"stdout": "ready"}})
        assert list(outputs) == []

    def test_until_gives_up_after_five_tries(self, desktop: FakeDesktop) -> None:
        tries = listen(desktop, "ask", returncode=1)
        with pytest.raises(TaskSetupFailed):
            run_step(context(desktop), "execute", {"command": "ask x", "until": {"returncode": 0}})
        assert len(tries) == 5


class TestWindows:
    def test_activate_waits_for_a_late_window(self, desktop: FakeDesktop) -> None:
        looks = iter(range(3))

        def appear(_: float) -> None:
            if next(looks, None) is None and not desktop.open_windows:
                desktop.open_windows.append(FakeWindow(title="Late"))

        desktop.clock.sleep = appear  # type: ignore[method-assign, assignment]
        run_step(context(desktop), "activate_window", {"window_name": "Late"})
        assert desktop.open_windows[-1].title == "Late"

    def test_activate_names_the_windows_that_are_there(self, desktop: FakeDesktop) -> None:
        desktop.launch("calculator")
        with pytest.raises(TaskSetupFailed, match="there are: calculator"):
            run_step(context(desktop), "activate_window", {"window_name": "editor"})

    def test_close(self, desktop: FakeDesktop) -> None:
        desktop.launch("editor")
        run_step(context(desktop), "close_window", {"window_name": "editor"})
        assert desktop.open_windows == []

    def test_close_a_window_that_is_not_there(self, desktop: FakeDesktop) -> None:
        with pytest.raises(GuestRefused):
            run_step(context(desktop), "close_window", {"window_name": "editor"})

    def test_launch_opens_a_window(self, desktop: FakeDesktop) -> None:
        run_step(context(desktop), "launch", {"command": ["editor"]})
        assert desktop.open_windows[0].title == "editor"


class TestSleep:
    def test_time_passes_in_the_desktop(self, desktop: FakeDesktop) -> None:
        said = listen(desktop, "python")
        run_step(context(desktop), "sleep", {"seconds": 0.5})
        assert said == ["import time; time.sleep(0.5)"]
