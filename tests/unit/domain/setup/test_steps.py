from collections.abc import Sequence
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.errors import FailureClass, GuestLost, GuestRefused, Invalid, ProgramBroken, TaskSetupFailed
from backend.domain.model.task import SetupStep
from backend.domain.ports.desktop import ExecResult
from backend.domain.setup import check_step, run_step, run_steps
from backend.domain.setup._launch import program_of, words_of
from tests.error_codes import raises_code
from tests.factories.starter_tasks import FakeContext, make_task
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


def of_dialect(desktop: FakeDesktop, dialect: str, **more: Any) -> FakeContext:
    return FakeContext(desktop, task=make_task().model_copy(update={"dialect": dialect, **more}))


def launched(
    desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch, dialect: str, parameters: dict[str, Any], **more: Any
) -> tuple[Any, bool]:
    """Commands that the desktop was asked to start, and whether by a shell."""
    result: list[tuple[Any, bool]] = []
    monkeypatch.setattr(desktop, "launch", lambda command, *, shell=False: result.append((command, shell)))
    run_step(of_dialect(desktop, dialect, **more), "launch", parameters)
    return result[0]


class TestRunSteps:
    def test_steps_run_in_order(self, desktop: FakeDesktop) -> None:
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
        with raises_code(TaskSetupFailed, "step_failed", mentions="2") as failed:
            run_steps(context(desktop), steps)
        assert failed.value.step == 2

    def test_an_unknown_step_type_fails(self, desktop: FakeDesktop) -> None:
        with raises_code(TaskSetupFailed, "step_failed", mentions="opn"):
            run_steps(context(desktop), [SetupStep(type="opn")])

    def test_broken_program_is_the_desktops_loss(self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(desktop, "launch", lambda *_, **__: None)
        with raises_code(ProgramBroken, "program_broken", mentions=("step 1", "gimp")) as broken:
            run_steps(context(desktop), [SetupStep(type="launch", parameters={"command": ["gimp"]})])
        assert broken.value.failure_class is FailureClass.GUEST

    def test_a_dead_desktop_is_a_loss_of_its_own_class(self, desktop: FakeDesktop) -> None:
        desktop.die()
        with pytest.raises(GuestLost):
            run_steps(context(desktop), [SetupStep(type="execute", parameters={"command": "true"})])


class TestCheckStep:
    @pytest.mark.parametrize(
        ("kind", "parameters", "where"),
        [
            ("download", {"files": [{"url": "ftp://a.example/x", "path": "/x"}]}, "files.0.url"),
            ("download", {"files": [{"url": "https://", "path": "/x"}]}, "files.0.url"),
            ("download", {"files": [{"url": "asset:", "path": "/x"}]}, "files.0.url"),
            ("download", {"files": [{"url": "asset:x"}]}, "files.0.path"),
            ("execute", {"command": "true", "stdout": ["out.txt"]}, "stdout"),
            ("execute", {"command": ""}, "command"),
            ("launch", {"command": []}, "command"),
            ("googledrive", {"operation": ["delete"], "args": [{"q": ""}]}, "args.0.q"),
            ("googledrive", {"operation": ["mkdirs"], "args": [{"path": []}]}, "args.0.path"),
            ("googledrive", {"operation": ["destroy"], "args": [{}]}, "operation.0"),
            ("googledrive", {"operation": ["upload"], "args": [{"url": "x", "path": ["x"]}]}, "args.0.url"),
            ("login", {"platform": "mail"}, "platform"),
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
        with raises_code(TaskSetupFailed, "lost", mentions="'a'"):
            run_step(context(desktop), "download", {"files": [{"url": "asset:a", "path": "/x"}]})

    def test_create_file_writes_utf8(self, desktop: FakeDesktop) -> None:
        run_step(context(desktop), "create_file", {"path": "/x", "content": "\u00e4"})
        assert desktop.files == {"/x": b"\xc3\xa4"}

    def test_create_folder_that_fails(self, desktop: FakeDesktop) -> None:
        desktop.commands["python"] = lambda _: ExecResult(returncode=1, error="read-only")
        with raises_code(TaskSetupFailed, "command_failed", mentions="read-only"):
            run_step(context(desktop), "create_folder", {"path": "/x"})


class TestExecute:
    @pytest.mark.parametrize("kind", ["execute", "command"])
    def test_a_failing_program_fails_the_task(self, desktop: FakeDesktop, kind: str) -> None:
        with raises_code(TaskSetupFailed, "command_failed", mentions="1"):
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
        with raises_code(TaskSetupFailed, "window_not_opened", mentions="calculator"):
            run_step(context(desktop), "activate_window", {"window_name": "editor"})

    def test_close_window_closes_the_window(self, desktop: FakeDesktop) -> None:
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


class TestPublishedExecute:
    """OSWorld and WindowsAgentArena look at no exit code."""

    @pytest.mark.parametrize("dialect", ["osworld", "waa"])
    @pytest.mark.parametrize("kind", ["execute", "command"])
    def test_a_program_that_finds_nothing_to_do(self, desktop: FakeDesktop, kind: str, dialect: str) -> None:
        place = of_dialect(desktop, dialect)
        run_step(place, kind, {"command": ["false"], "stdout": "out"})
        assert place.output("out") == b""

    @pytest.mark.parametrize("code", [126, 127])
    def test_a_program_that_a_shell_cannot_run(self, desktop: FakeDesktop, code: int) -> None:
        listen(desktop, "sudo", returncode=code)
        with raises_code(TaskSetupFailed, "command_failed", mentions=str(code)):
            run_step(of_dialect(desktop, "osworld"), "execute", {"command": "sudo x", "shell": True})

    def test_a_program_that_is_not_there(self, desktop: FakeDesktop) -> None:
        with pytest.raises(GuestRefused):
            run_step(of_dialect(desktop, "osworld"), "execute", {"command": ["nothing"]})

    def test_the_published_password_is_filled_in_and_never_told(self, desktop: FakeDesktop) -> None:
        said = listen(desktop, "sudo", returncode=127)
        with pytest.raises(TaskSetupFailed) as failed:
            run_step(of_dialect(desktop, "osworld"), "execute", {"command": ["sudo", "-S", "{CLIENT_PASSWORD}"]})
        assert said == ["-S", "password"]
        assert "CLIENT_PASSWORD" in failed.value.message

    def test_the_operators_password(self, desktop: FakeDesktop) -> None:
        said = listen(desktop, "sudo")
        place = of_dialect(desktop, "osworld")
        place.secrets["client_password"] = "other"
        run_step(place, "execute", {"command": "sudo {CLIENT_PASSWORD}", "shell": "true"})
        assert said == ["other"]


class TestLaunch:
    @pytest.mark.parametrize(
        ("command", "program"),
        [
            ("VLC_VERBOSE=-1 vlc --no-audio '/home/user/A b.mp4'", "vlc"),
            (["/usr/bin/thunderbird"], "thunderbird"),
            (["start", "msedge", "--remote-debugging-port=1337"], "msedge"),
            (["cmd", "/c", "start msedge"], "msedge"),
            ([r"C:\Program Files\Google\Chrome\Application\chrome.exe", "--x"], "chrome"),
            ('ncat.exe -k -l 0.0.0.0 9222 --sh-exec "ncat.exe 127.0.0.1 1337"', "ncat"),
            ("it's", "it's"),
            ("", ""),
        ],
    )
    def test_which_program_a_command_starts(self, command: str | list[str], program: str) -> None:
        assert program_of(words_of(command)) == program

    @pytest.mark.parametrize(
        "command",
        [
            ["socat", "tcp-listen:9222,fork", "tcp:localhost:1337"],
            'ncat.exe -k -l 0.0.0.0 9222 --sh-exec "ncat.exe 127.0.0.1 1337"',
        ],
    )
    def test_a_forward_of_the_debugging_port_does_nothing(self, desktop: FakeDesktop, command: str | list[str]) -> None:
        run_step(of_dialect(desktop, "osworld"), "launch", {"command": command, "shell": isinstance(command, str)})
        assert desktop.open_windows == []

    def test_another_forward_runs(self, desktop: FakeDesktop) -> None:
        run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["socat", "tcp-listen:1,fork", "tcp:a:2"]})
        assert len(desktop.open_windows) == 1

    def test_a_program_is_ended_before_its_helpers_and_awaited(self, desktop: FakeDesktop) -> None:
        """All at once, a browser could not write its cookies; and it is started anew next."""
        alive, said = ["12", "34", "56"], []

        def found(words: Sequence[str]) -> ExecResult:
            return ExecResult(returncode=0 if alive else 1, output="".join(f"{pid}\n" for pid in alive[:1]))

        def end(words: Sequence[str]) -> ExecResult:
            said.append([*words, *alive])
            del alive[:1]
            return ExecResult(returncode=0)

        def quiet(*, quiet: float, timeout: float) -> float:
            del alive[:1]
            return timeout

        desktop.commands |= {"pgrep": found, "pkill": end}
        desktop.wait_stable = quiet  # type: ignore[method-assign]
        run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["pkill", "chrome"]})
        assert said == [["-o", "chrome", "12", "34", "56"]]
        assert not alive
        assert [window.title for window in desktop.open_windows] == ["pkill"]

    def test_programs_that_do_not_run_are_not_awaited(self, desktop: FakeDesktop) -> None:
        listen(desktop, "pgrep", returncode=1)
        run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["pkill", "chrome"]})
        assert [window.title for window in desktop.open_windows] == ["pkill"]

    @pytest.mark.parametrize("command", [["gimp"], ["gimp", "a.png"], ["/usr/bin/gimp", "a.png"]])
    def test_program_without_any_window_is_the_desktops_failure(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch, command: list[str]
    ) -> None:
        monkeypatch.setattr(desktop, "launch", lambda *_, **__: None)
        with raises_code(ProgramBroken, "program_broken", mentions="gimp"):
            run_step(of_dialect(desktop, "osworld"), "launch", {"command": command})

    def test_program_without_a_window_only_with_the_tasks_arguments_is_the_tasks_failure(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        opens = desktop.launch
        monkeypatch.setattr(desktop, "launch", lambda command, **_: opens(command) if len(command) == 1 else None)
        with raises_code(TaskSetupFailed, "window_not_opened", mentions="gimp"):
            run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["gimp", "--no-such-option"]})

    def test_program_behind_another_is_not_started_alone(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        started: list[object] = []
        monkeypatch.setattr(desktop, "launch", lambda command, **_: started.append(command))
        with raises_code(TaskSetupFailed, "window_not_opened"):
            run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["LANG=C", "gimp", "a.png"]})
        assert len(started) == 1

    def test_one_that_shows_it_in_a_window_that_is_there(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        desktop.launch("code")
        monkeypatch.setattr(desktop, "launch", lambda *_, **__: None)
        run_step(of_dialect(desktop, "osworld"), "launch", {"command": ["code", "/home/user/a.txt"]})

    def test_a_string_is_split_at_blanks(self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
        assert launched(desktop, monkeypatch, "osworld", {"command": "say 'a b'"}) == (["say", "'a", "b'"], False)

    def test_a_task_that_wants_the_proxy(self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch) -> None:
        parameters = {"command": ["google-chrome", "--remote-debugging-port=1337"]}
        desktop.launch("chromium")
        started = launched(desktop, monkeypatch, "osworld", parameters, raw={"proxy": True})
        assert started == ([*parameters["command"], "--proxy-server=http://127.0.0.1:18888"], False)

    @pytest.mark.parametrize(
        ("command", "line"),
        [
            (["google-chrome", "--remote-debugging-port=1337"], "chrome --remote-debugging-port=1337"),
            (["vlc", r"C:\Users\Docker\A b.mp4"], r'vlc "C:\Users\Docker\A b.mp4"'),
            ("vlc", "vlc"),
        ],
    )
    def test_the_windows_arenas_shell(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch, command: str | list[str], line: str
    ) -> None:
        desktop.launch("vlc")
        assert launched(desktop, monkeypatch, "waa", {"command": command}) == (line, True)


class TestChromium:
    """Tasks name Google Chrome; some desktops have Chromium."""

    def test_activate_window_finds_chromium_for_chrome(self, desktop: FakeDesktop) -> None:
        desktop.launch("chromium")
        desktop.open_windows[0].title = "New Tab - Chromium"
        desktop.launch("editor")
        run_step(of_dialect(desktop, "osworld"), "activate_window", {"window_name": "Google Chrome"})
        assert desktop.open_windows[-1].title == "New Tab - Chromium"

    def test_close_window_finds_chromium_for_chrome(self, desktop: FakeDesktop) -> None:
        desktop.open_windows.append(FakeWindow(title="New Tab - Chromium"))
        step = {"window_name": "New Tab - Google Chrome", "strict": True}
        run_step(of_dialect(desktop, "osworld"), "close_window", step)
        assert desktop.open_windows == []
