"""What a virtual machine is made of, in a form that a supervisor understands: plain values, no library."""

from dataclasses import asdict, dataclass
from typing import Any, Self

KVM, TCG = "kvm", "tcg"
EMULATED_CPU = "Nehalem-v1,+rdtscp"
"""What is emulated: SSE4.2, but no AVX, whose instructions take twice the time (docs/internals/qemu.md)."""
WINDOWS = "windows"


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """A machine as its image and this host want it.

    Attributes:
        system: `linux` or `windows`.
        type: versioned name of QEMU's machine: a template belongs to it.
        accelerator: `kvm` or `tcg`.
        cpu: QEMU's CPU model, with the features and Hyper-V hints that it gets or lacks.
        screen: width and height in pixels.
        disk: path of the golden image; never written to.
        disk_size: bytes that the guest sees of it.
        kernel, initrd, command_line: of a direct boot; empty = the firmware boots from the disk.
        firmware: `bios` or `uefi`.
        firmware_code, firmware_vars: paths of UEFI's program and of the settings that it begins with.
        disk_device, network_device, display_device, pointer_device: QEMU's names.
        entropy: has a driver for `virtio-rng-pci`.
    """

    system: str
    type: str
    accelerator: str
    cpu: str
    cpus: int
    memory_mib: int
    screen: tuple[int, int]
    disk: str
    disk_size: int
    kernel: str = ""
    initrd: str = ""
    command_line: str = ""
    firmware: str = "bios"
    firmware_code: str = ""
    firmware_vars: str = ""
    disk_device: str = "virtio-blk-pci"
    network_device: str = "virtio-net-pci"
    display_device: str = "virtio-vga"
    pointer_device: str = "usb-tablet"
    entropy: bool = True

    def to_json(self) -> dict[str, Any]:
        """For the wire."""
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """From the wire. Raises TypeError or ValueError if it is none."""
        width, height = value["screen"]
        return cls(**{**value, "screen": (int(width), int(height))})


@dataclass(frozen=True, kw_only=True)
class MachineFiles:
    """Where QEMU finds what a machine is made of; paths as the QEMU process itself can open them.

    Attributes:
        disk: the golden image.
        kernel, initrd, firmware_code: as in Machine.
        firmware_vars: this machine's own copy.
        overlay: takes what the machine writes.
        below: the template's overlay, between that and the golden image; empty without a template.
        memory: the template's memory; empty = memory of its own.
    """

    disk: str
    overlay: str
    kernel: str = ""
    initrd: str = ""
    firmware_code: str = ""
    firmware_vars: str = ""
    below: str = ""
    memory: str = ""
