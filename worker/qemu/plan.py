"""Which machine an image becomes on this host, and the key under which its template is kept."""

import hashlib
import json
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import ClusterLost
from backend.domain.machine_image import DirectBoot, MachineImage
from backend.domain.run import Screen
from backend.services.kvm import why_not_cached
from worker.qemu.arguments import arguments
from worker.qemu.facts import UEFI, UEFI_CODE, UEFI_VARS, NoQemu, facts
from worker.qemu.machine import KVM, Files, Machine

SLOW = "emulated without KVM, 10 to 30 times slower"
_EMULATED = "Nehalem-v1,+rdtscp"
"""What is emulated: SSE4.2, but no AVX, whose instructions cost the emulation twice the time (docs/qemu.md)."""
_PATIENCE = 4.0
"""Emulated, an editor takes 5 to 15 s until it is there; on a busy host that is several times as much again."""
_READS_LONGER = "systemd.setenv=DESKARENA_LIMIT_A11Y_SECONDS={seconds:.0f}"
"""Tells an emulated guest that boots directly for how long it may read the accessibility tree before it cuts it."""
_TREE_SECONDS = 20.0
"""The guest server's own limit (vm_images/guest_server/limits.py)."""


@dataclass(frozen=True)
class Host:
    """What this host gives to machines.

    Attributes:
        qemu: the first line of what QEMU says of itself.
        type: its newest q35 machine, by its versioned name.
        accelerator: `kvm` where a machine really boots with it, else `tcg`.
        why_slow: why not KVM; empty with it.
        processor: hash of what a machine can see of the processor: a template does not go on with another one.
        uefi: has the program and settings that machines with UEFI begin with.
    """

    qemu: str
    type: str
    accelerator: str
    why_slow: str
    processor: str
    uefi: bool = True

    @property
    def cpu(self) -> str:
        """QEMU's CPU model."""
        return "host" if self.accelerator == KVM else _EMULATED

    @property
    def patience(self) -> float:
        """How many times as long as usual a machine's programs may take."""
        return 1.0 if self.accelerator == KVM else _PATIENCE


def this_host(cache: Path) -> Host:
    """Asks QEMU and tries KVM out.

    Args:
        cache: folder in which the answer about KVM is kept.

    Raises:
        ClusterLost: there is no QEMU that could be used.
    """
    try:
        return Host(**facts(why_not_cached(cache)))
    except NoQemu as error:
        raise ClusterLost(str(error), hint=_INSTALL) from error


_INSTALL = "Install qemu-system-x86 and qemu-utils; `deskarena doctor` says what works."


def machine_of(folder: Path, image: MachineImage, screen: Screen, host: Host) -> Machine:
    """The machine of an image with that screen.

    Raises:
        ClusterLost: it cannot be had here.
    """
    if not image.shows(screen):
        can = ", ".join(f"{each.width}x{each.height}" for each in image.screens)
        raise ClusterLost(
            f"the image {image.name} cannot show {screen.width}x{screen.height}", hint=f"It can show: {can}."
        )
    boot, uefi, devices = image.boot, image.firmware == "uefi", image.devices
    if uefi and not host.uefi:
        raise ClusterLost(f"the image {image.name} needs UEFI, which is not installed", hint="Install ovmf.")
    return Machine(
        system=image.os,
        type=host.type,
        accelerator=host.accelerator,
        cpu=host.cpu,
        cpus=image.cpus,
        memory_mib=image.memory_mib,
        screen=(screen.width, screen.height),
        disk=str(folder / image.disk.file),
        disk_size=image.disk.virtual_size,
        kernel=str(folder / boot.kernel.file) if boot else "",
        initrd=str(folder / boot.initrd.file) if boot else "",
        command_line=_command_line(boot, screen, host) if boot else "",
        firmware=image.firmware,
        firmware_code=str(UEFI / UEFI_CODE) if uefi else "",
        firmware_vars=str(UEFI / UEFI_VARS) if uefi else "",
        disk_device=devices.disk,
        network_device=devices.network,
        display_device=devices.display,
        pointer_device=devices.pointer,
        entropy=devices.entropy,
    )


def _command_line(boot: DirectBoot, screen: Screen, host: Host) -> str:
    line = boot.line(screen)
    if host.accelerator == KVM:
        return line
    return f"{line} {_READS_LONGER.format(seconds=_TREE_SECONDS * host.patience)}"


def template_key(image: MachineImage, machine: Machine, host: Host) -> str:
    """Another key for another image, QEMU, machine type, processor, memory, device or screen; 64 hexadecimal digits.

    The command line is what a template really depends on, so it is part of the key; where files lie is not.
    """
    nowhere = Files(disk="disk", overlay="overlay", memory="memory", below="below", kernel="kernel", initrd="initrd")
    words = arguments(machine, nowhere, monitor=0, incoming=True)
    told = {"image": image.digest(), "host": [host.qemu, host.processor], "words": words}
    return hashlib.sha256(json.dumps(told, sort_keys=True).encode()).hexdigest()
