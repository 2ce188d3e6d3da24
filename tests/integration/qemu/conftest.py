"""One tiny machine image, its template and a provider for all tests of this folder."""

import dataclasses
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from tests.factories.own_machines import own_folder
from tests.factories.tiny_machine import SCREEN, needs_qemu, tiny_image
from worker.providers.qemu import QemuProvider
from worker.qemu.machine import MachineSpec

SPEC = DesktopSpec(screen=SCREEN)


@dataclasses.dataclass
class Tiny:
    """A data folder with the tiny image, and the provider that works in it."""

    data: Path
    provider: QemuProvider

    def machine(self) -> MachineSpec:
        """The image as it is prepared here."""
        return self.provider.order(SPEC).machine

    def left(self) -> list[Path]:
        """Files that machines might have left."""
        return sorted((self.data / "machines").glob("**/*"))


@pytest.fixture(scope="package")
def data(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Path]:
    needs_qemu()
    folder = tmp_path_factory.mktemp("qemu")
    tiny_image(folder / "images")
    with own_folder():
        yield folder


@pytest.fixture(scope="package")
def tiny(data: Path) -> Iterator[Tiny]:
    provider = QemuProvider(Settings(data_dir=data))
    provider.template(SPEC)
    yield Tiny(data, provider)
    provider.close()


@pytest.fixture
def opened(tiny: Tiny) -> Iterator[OpenDesktop]:
    desktop = tiny.provider.open(SlotRef(0), SPEC)
    yield desktop
    desktop.close()
