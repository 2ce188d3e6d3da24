"""What a virtual machine is made of before it is started: an image with a screen, on a host."""

import secrets
from dataclasses import dataclass
from pathlib import Path

from backend.domain.machines.machine_image import MachineImage
from backend.domain.machines.slots import need_of
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec
from worker.qemu.machine import MachineSpec
from worker.qemu.plan import Host, machine_of, template_key
from worker.qemu.volumes import SECRET


@dataclass(frozen=True)
class VmRequest:
    """What is to be made: an image's machine with a screen, on a host.

    Attributes:
        folder: of the image, where machines are made.
        key: of its template.
        host: that runs it.
        built_in: secret that the image's guest server has built in; empty = it takes the one it is started with.
    """

    folder: Path
    image: MachineImage
    machine: MachineSpec
    key: str
    screen: ScreenSize
    host: Host
    built_in: str = ""

    @classmethod
    def of(
        cls, folder: Path, image: MachineImage, spec: DesktopSpec, host: Host, *, built_in: str | None = None
    ) -> "VmRequest":
        """Args: built_in: None = as the folder on this host says. Raises ClusterLost: it cannot be had there."""
        machine = machine_of(folder, image, spec.screen, host)
        if built_in is None:
            file = folder / SECRET
            built_in = file.read_text().strip() if file.is_file() else ""
        key = template_key(image, machine, host)
        return cls(folder, image, machine, key, spec.screen, host, built_in)

    def as_emulated(self, detail: str) -> "VmRequest":
        """The same without KVM, for a machine that does not boot with it. Args: detail: what happened."""
        spec = DesktopSpec(screen=self.screen, image=self.image.name)
        return VmRequest.of(self.folder, self.image, spec, self.host.as_emulated(detail), built_in=self.built_in)

    @property
    def size(self) -> int:
        """Bytes of memory that the machine may come to use, as slots are counted."""
        return need_of(self.image).memory

    def first_secret(self) -> str:
        """What the guest's server begins with: built into the image, else drawn."""
        return self.built_in or secrets.token_urlsafe(24)
