"""Request for a virtual machine: an image with a screen, on a host."""

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
    """Machine to create: an image, a screen, and a host.

    Attributes:
        folder: of the image, where machines are created.
        key: of its template.
        host: facts of the host.
        built_in: secret of the image's guest server; empty = it takes the one that it is started with.
    """

    folder: Path
    image: MachineImage
    machine: MachineSpec
    key: str
    screen: ScreenSize
    host: Host
    built_in: str = ""

    @classmethod
    def for_image(
        cls, folder: Path, image: MachineImage, spec: DesktopSpec, host: Host, *, built_in: str | None = None
    ) -> "VmRequest":
        """Args: built_in: secret in the image; None = read it from the image folder.

        Raises ClusterLost if that is impossible.
        """
        machine = machine_of(folder, image, spec.screen, host)
        if built_in is None:
            file = folder / SECRET
            built_in = file.read_text().strip() if file.is_file() else ""
        key = template_key(image, machine, host)
        return cls(folder, image, machine, key, spec.screen, host, built_in)

    def as_emulated(self, detail: str) -> "VmRequest":
        """The request without KVM, for a machine that does not boot with it. Args: detail: what happened."""
        spec = DesktopSpec(screen=self.screen, image=self.image.name)
        return VmRequest.for_image(self.folder, self.image, spec, self.host.as_emulated(detail), built_in=self.built_in)

    @property
    def size(self) -> int:
        """Maximum bytes of memory of the machine, as slots are computed."""
        return need_of(self.image).memory

    def first_secret(self) -> str:
        """The guest server's first secret: built into the image, else random."""
        return self.built_in or secrets.token_urlsafe(24)
