"""Reports about a desktop that starts but is unusable, with a fake desktop."""

from types import SimpleNamespace
from typing import Any

import pytest

from backend.domain.errors import GuestLost
from backend.domain.ports.desktop import ExecResult
from tests.fakes.desktop import FakeDesktop
from worker.providers import local_trial
from worker.providers.local_trial import Trial, use

DETAILS = {"home": "overlay"}


class TrialDesktop(FakeDesktop):
    """A desktop in which Python opens the trial's window, with a scripted accessibility tree."""

    def __init__(self, tree: str, *, gtk: bool = True) -> None:
        super().__init__()
        self.shown, self.launched = tree, list[str]()
        self.commands["/usr/bin/python3"] = lambda _: ExecResult(returncode=0 if gtk else 1, error="no typelib for Gtk")
        self.commands["hangs"] = self._hangs

    def launch(self, command: Any, *, shell: bool = False) -> None:
        assert not shell
        self.launched.append(command[0])

    def accessibility_tree(self) -> str:
        self._alive()
        return self.shown

    def _hangs(self, _: object) -> ExecResult:
        raise GuestLost("it did not end")


def tried(desktop: FakeDesktop, **programs: list[str]) -> Trial:
    opened: Any = SimpleNamespace(desktop=desktop, details=DETAILS)
    return use(opened, programs)


@pytest.fixture(autouse=True)
def _soon(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(local_trial, "TREE_SECONDS", 0.1)


class TestTree:
    def test_tree_with_the_test_button_passes(self) -> None:
        desktop = TrialDesktop('<frame><push-button name="deskarena-trial" /></frame>')
        assert tried(desktop) == Trial(DETAILS, "")
        assert desktop.launched == ["/usr/bin/python3"]

    def test_empty_tree_is_reported(self) -> None:
        assert "are missing" in tried(TrialDesktop('<desktop-frame name="main" />')).no_tree

    def test_tree_is_untried_without_a_window(self) -> None:
        said = tried(TrialDesktop('<desktop-frame name="main" />', gtk=False)).no_tree
        assert said == "not tried: no window can be opened: no typelib for Gtk"

    def test_dead_tree_reader_is_reported(self) -> None:
        desktop = TrialDesktop("")
        desktop.die("the registry does not answer")
        assert tried(desktop).no_tree


class TestPrograms:
    def test_failing_programs_are_reported_with_a_reason(self) -> None:
        desktop = TrialDesktop("deskarena-trial")
        desktop.commands["old"] = lambda _: ExecResult(returncode=127, error="first\nlibX11.so.6: cannot open\n")
        found = tried(desktop, good=["true"], bad=["false"], old=["old"], late=["hangs"])
        assert found.broken == {"bad": "it exited with 1", "old": "libX11.so.6: cannot open", "late": "it did not end"}
