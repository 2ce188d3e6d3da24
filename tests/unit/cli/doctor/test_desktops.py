from pathlib import Path

import pytest

from backend.cli.doctor import desktops
from backend.cli.doctor.check import CheckState
from backend.cli.doctor.trials import Trials

WORKS = Trials({"local desktop": (CheckState.OK, "one was made"), "editor": (CheckState.OK, "it starts in a desktop")})
WORKS_NOT = Trials({"local desktop": (CheckState.BROKEN, "bwrap: Permission denied")})


@pytest.fixture
def path(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A folder that comes first in PATH."""
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    return tmp_path


def install(folder: Path, name: str, script: str) -> None:
    (folder / name).write_text(f"#!/bin/sh\n{script}\n")
    (folder / name).chmod(0o755)


class TestSandbox:
    def test_working_desktop_proves_the_sandbox(self, path: Path) -> None:
        install(path, "bwrap", "exit 1")
        assert desktops.sandbox(WORKS).state is CheckState.OK

    def test_installed_sandbox_that_fails_is_broken(self, path: Path) -> None:
        install(path, "bwrap", "echo 'bwrap: No permissions to create new namespace' >&2; exit 1")
        found = desktops.sandbox(WORKS_NOT)
        assert (found.state, found.detail) == (CheckState.BROKEN, "bwrap: No permissions to create new namespace")
        assert "apparmor_restrict_unprivileged_userns" in found.install

    def test_missing_sandbox_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert desktops.sandbox(WORKS_NOT).state is CheckState.MISSING


class TestXvfb:
    def test_installed_xvfb_that_fails_is_broken(self, path: Path) -> None:
        install(path, "Xvfb", "echo 'Fatal server error: no keyboard map' >&2; exit 1")
        found = desktops.xvfb()
        assert (found.state, found.detail) == (CheckState.BROKEN, "Fatal server error: no keyboard map")


class TestGuestServer:
    def test_installed_packages_are_not_enough(self) -> None:
        assert desktops.guest_server(WORKS_NOT).state in {CheckState.UNTRIED, CheckState.BROKEN}
        assert desktops.guest_server(WORKS).state in {CheckState.OK, CheckState.BROKEN}


class TestApplications:
    def test_starting_application_is_ok(self, path: Path) -> None:
        install(path, "mousepad", "exit 0")
        (found,) = (each for each in desktops.applications(WORKS) if each.name == "editor")
        assert (found.state, found.detail) == (CheckState.OK, f"{path}/mousepad: it starts in a desktop")

    def test_failing_application_is_broken(self, path: Path) -> None:
        install(path, "mousepad", "exit 0")
        trials = Trials({"editor": (CheckState.BROKEN, "it does not start in a desktop: libgtk-3.so.0")})
        (found,) = (each for each in desktops.applications(trials) if each.name == "editor")
        assert (found.state, "libgtk-3.so.0" in found.detail) == (CheckState.BROKEN, True)

    def test_untested_application_is_untried(self, path: Path) -> None:
        install(path, "mousepad", "exit 0")
        (found,) = (each for each in desktops.applications(Trials({}, "no desktop")) if each.name == "editor")
        assert (found.state, found.install) == (CheckState.UNTRIED, "apt install mousepad")

    def test_missing_applications_are_not_tried(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        install(tmp_path, "xterm", "exit 0")
        assert desktops.commands() == {"terminal": ("xterm", "-version")}
        states = {each.name: each.state for each in desktops.applications(WORKS)}
        assert states.pop("terminal") is CheckState.UNTRIED
        assert set(states.values()) == {CheckState.MISSING}
