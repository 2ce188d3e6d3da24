"""The check list of a Linux image: it matches the packages, and finds faults of a machine."""

from pathlib import Path

import pytest

from backend.domain.errors import GuestLost
from backend.domain.machines.machine_image import MachineImage
from backend.domain.ports.desktop import ExecResult
from tests.factories.machine_images import image_of
from tests.fakes.desktop import FakeDesktop
from tests.fakes.provider import FakeProvider
from worker.images.checks import CheckResult
from worker.images.linux.check import Application, applications, check_list
from worker.images.linux.options import sources_of

LINUX = sources_of(Path(__file__).resolve().parents[4]).linux
EDITOR = Application(name="Editor", command=("editor",), window="editor", seconds=0.2)


@pytest.fixture
def provider() -> FakeProvider:
    made = FakeProvider()

    def furnish(desktop: FakeDesktop) -> None:
        desktop.commands["python"] = lambda _: ExecResult(returncode=0, output="42\n")

    made.on_open = furnish
    return made


def failed(provider: FakeProvider, of: MachineImage, *wanted: Application) -> list[CheckResult]:
    return [line for line in check_list(provider, of, wanted) if not line.ok]


class TestApplications:
    def test_full_has_those_of_minimal(self) -> None:
        minimal, full = applications(LINUX, "minimal"), applications(LINUX, "full")
        assert full[: len(minimal)] == minimal
        assert {"LibreOffice Calc", "Chromium", "GIMP", "VLC", "Thunderbird"} <= {each.name for each in full}

    def test_each_is_there_once(self) -> None:
        names = [each.name for each in applications(LINUX, "full")]
        assert len(set(names)) == len(names)


class TestCheckList:
    def test_a_whole_image_passes_and_its_machine_is_gone(self, provider: FakeProvider) -> None:
        assert failed(provider, image_of(programs=["editor"]), EDITOR) == []
        assert [opened.closed for opened in provider.opened] == [1]

    def test_a_program_that_shows_no_window_is_named(self, provider: FakeProvider) -> None:
        silent = EDITOR.model_copy(update={"command": ("trouble",)})
        assert [line.name for line in failed(provider, image_of(programs=["trouble"]), silent)] == ["Editor starts"]

    def test_a_program_that_the_image_does_not_name_is_reported(self, provider: FakeProvider) -> None:
        assert [line.fault for line in failed(provider, image_of(programs=["other"]), EDITOR)] == ["not listed: editor"]

    def test_a_lost_machine_is_not_a_failed_line_and_is_gone(self, provider: FakeProvider) -> None:
        provider.on_open = lambda desktop: desktop.die("crashed")
        with pytest.raises(GuestLost):
            failed(provider, image_of(programs=["editor"]), EDITOR)
        assert [opened.closed for opened in provider.opened] == [1]
