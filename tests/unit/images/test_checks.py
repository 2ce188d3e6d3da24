from collections.abc import Sequence
from itertools import count

import pytest

from backend.domain.errors import GuestLost
from backend.domain.model.trajectory import Window
from backend.domain.ports.desktop import ExecResult
from tests.fakes.desktop import FakeDesktop, FakeWindow
from worker.images.checks import ProgramCheck, answers, basics, starts, table

EDITOR = ProgramCheck(command=("editor",), window="editor", seconds=0.2)


@pytest.fixture
def desktop() -> FakeDesktop:
    made = FakeDesktop()
    made.commands["python"] = lambda _: ExecResult(returncode=0, output="42\n")
    return made


class TestStarts:
    def test_a_program_that_shows_its_window_passes_and_is_closed(self, desktop: FakeDesktop) -> None:
        assert starts(desktop, "Editor", EDITOR).ok
        assert desktop.open_windows == []

    def test_program_without_a_window_fails_with_the_open_windows(self, desktop: FakeDesktop) -> None:
        line = starts(desktop, "Editor", EDITOR.model_copy(update={"command": ("trouble",)}))
        assert "no window with 'editor' in its title within 0 s; open windows: 'trouble'" in line.fault

    def test_a_window_that_was_there_before_does_not_count(self, desktop: FakeDesktop) -> None:
        desktop.open_windows.append(FakeWindow(title="my editor"))
        assert not starts(desktop, "Editor", EDITOR.model_copy(update={"command": ("trouble",)})).ok

    def test_a_desktop_that_is_too_busy_to_answer_for_a_while_is_asked_again(
        self, desktop: FakeDesktop, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        asked, windows = count(), desktop.windows

        def busy() -> Sequence[Window]:
            if next(asked) == 1:
                raise GuestLost("did not answer")
            return windows()

        monkeypatch.setattr(desktop, "windows", busy)
        assert starts(desktop, "Editor", EDITOR.model_copy(update={"seconds": 5.0})).ok

    def test_a_lost_desktop_is_not_a_failed_check(self, desktop: FakeDesktop) -> None:
        desktop.die()
        with pytest.raises(GuestLost):
            starts(desktop, "Editor", EDITOR)


class TestBasics:
    def test_a_whole_desktop_passes(self, desktop: FakeDesktop) -> None:
        assert [line.name for line in basics(desktop) if not line.ok] == []

    def test_a_python_that_cannot_count_does_not(self, desktop: FakeDesktop) -> None:
        desktop.commands["python"] = lambda _: ExecResult(returncode=0, output="41")
        assert [line.name for line in basics(desktop) if not line.ok] == ["Python runs"]


class TestAnswers:
    def test_a_question_that_is_not_answered_fails(self, desktop: FakeDesktop) -> None:
        desktop.die("killed")
        assert "killed" in answers("probe", desktop.probe).fault


class TestTable:
    def test_marks_what_failed(self, desktop: FakeDesktop) -> None:
        lines = (starts(desktop, "Editor", EDITOR), answers("no", lambda: desktop.read_file("none")))
        assert [line[:6] for line in table(lines).splitlines()] == ["ok    ", "FAILED"]
