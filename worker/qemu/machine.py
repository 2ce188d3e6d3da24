"""A virtual machine as plain values that a supervisor understands, standard library only."""

from dataclasses import asdict, dataclass
from typing import Any, Self

KVM, TCG = "kvm", "tcg"
EMULATED_CPU = "Nehalem-v1,+rdtscp"
"""Emulated CPU: SSE4.2, but no AVX, whose emulation takes twice the time (docs/internals/qemu.md)."""
WINDOWS = "windows"


@dataclass(frozen=True, kw_only=True)
class MachineSpec:
    """A machine as defined by its image and this host.

    Attributes:
        system: `linux` or `windows`.
        type: versioned name of QEMU's machine: a template is valid for one.
        accelerator: `kvm` or `tcg`.
        cpu: QEMU's CPU model, with features and Hyper-V hints added or removed.
        screen: width and height in pixels.
        disk: path of the golden image; never written.
        disk_size: size of the disk for the guest, in bytes.
        kernel, initrd, command_line: of a direct boot; empty = the firmware boots from the disk.
        firmware: `bios` or `uefi`.
        firmware_code, firmware_vars: paths of UEFI's program and of its initial settings.
        disk_device, network_device, display_device, pointer_device: QEMU's names.
        entropy: whether the guest has a driver for `virtio-rng-pci`.
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
        return asdict(self)

    @classmethod
    def from_json(cls, value: dict[str, Any]) -> Self:
        """Reverse of `to_json`. Raises TypeError or ValueError for invalid data."""
        width, height = value["screen"]
        return cls(**{**value, "screen": (int(width), int(height))})


@dataclass(frozen=True, kw_only=True)
class MachineFiles:
    """Paths of a machine's files, as the QEMU process can open them.

    Attributes:
        disk: the golden image.
        kernel, initrd, firmware_code: as in MachineSpec.
        firmware_vars: this machine's own copy.
        overlay: receives the machine's writes.
        below: the template's overlay, between that and the golden image; empty without a template.
        memory: the template's memory; empty = its own memory.
    """

    disk: str
    overlay: str
    kernel: str = ""
    initrd: str = ""
    firmware_code: str = ""
    firmware_vars: str = ""
    below: str = ""
    memory: str = ""
