"""The machine of an image on this host, and the key of its template."""

import hashlib
import json
import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any, Self

from backend.domain.errors import ClusterLost
from backend.domain.machines.machine_image import DirectBoot, MachineImage
from backend.domain.model.run import ScreenSize
from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.accelerator import AUTO
from worker.qemu.arguments import arguments
from worker.qemu.client import clean_environment
from worker.qemu.host_facts import KVM_REFUSED_EXIT, NO_QEMU_EXIT, UEFI, UEFI_CODE, UEFI_VARS
from worker.qemu.machine import EMULATED_CPU, TCG, WINDOWS, MachineFiles, MachineSpec

FACTS_SECONDS = 300.0
"""Time limit for all measurements where KVM is slow; another process may be measuring first."""
_PATIENCE = 4.0
"""Emulated, an editor takes 5 to 15 s to start; several times as long on a busy host."""
_READS_LONGER = "systemd.setenv=DESKARENA_LIMIT_A11Y_SECONDS={seconds:.0f}"
"""Tells an emulated guest with direct boot its time limit for the accessibility tree."""
_TREE_SECONDS = 20.0
"""The guest server's own limit (vm_images/guest_server/protocol/limits.py)."""


@dataclass(frozen=True)
class Host:
    """Facts about a host for machines.

    Attributes:
        qemu: first line of QEMU's version output.
        type: its newest q35 machine, by versioned name.
        acceleration: how its machines run, and why.
        processor: hash of the CPU properties that machines can see: a template is not valid for another one.
        uefi: whether it has the files for machines with UEFI.
    """

    qemu: str
    type: str
    acceleration: Acceleration
    processor: str
    uefi: bool = True

    @classmethod
    def from_json(cls, value: Mapping[str, Any]) -> Self:
        """Parses a supervisor's report. Raises TypeError or KeyError for invalid data."""
        return cls(**{**value, "acceleration": Acceleration.from_json(value["acceleration"])})

    @property
    def emulated(self) -> bool:
        """Whether its machines run without hardware virtualisation."""
        return self.acceleration.emulated

    @property
    def why_emulated(self) -> str:
        """Problem with its KVM; empty if it is used, or need not be."""
        return self.acceleration.detail if self.emulated and self.acceleration.reason != AccelerationReason.SET else ""

    @property
    def speed(self) -> str:
        """One line on how its machines run."""
        how, figures = self.acceleration.detail, self.acceleration.figures
        if self.emulated:
            return f"emulated, 10 to 30 times slower than with hardware virtualisation; kvm: {how}{figures}"
        return f"with KVM, {how}{figures}"

    @property
    def patience(self) -> float:
        """Factor for time limits of a machine's programs."""
        return _PATIENCE if self.emulated else 1.0

    def cpu(self, system: str) -> str:
        """QEMU's CPU model for a machine with that system."""
        if self.emulated:
            return EMULATED_CPU
        hints = self.acceleration.hints if system == WINDOWS else ()
        return ",".join((self.acceleration.cpu, *hints))

    @property
    def chose_kvm(self) -> bool:
        """Whether KVM was measured to be faster, and not configured: then a machine that fails to boot is emulated."""
        return self.acceleration.reason == AccelerationReason.FASTER

    @property
    def gave_up_kvm(self) -> bool:
        """Whether KVM works here, but this machine did not boot with it: see `as_emulated`."""
        return self.acceleration.reason == AccelerationReason.NO_BOOT

    def as_emulated(self, detail: str) -> "Host":
        """The host without KVM, for a machine that does not boot with it. Args: detail: what happened."""
        acceleration = replace(self.acceleration, accelerator=TCG, reason=AccelerationReason.NO_BOOT, detail=detail)
        return replace(self, acceleration=acceleration, processor="")


def this_host(accelerator: str = AUTO, *, fresh: bool = False) -> Host:
    """Queries QEMU, and measures a guest with and without KVM.

    Args:
        accelerator: the setting.
        fresh: ignore measurements made since this host started.

    Raises:
        ClusterLost: there is no usable QEMU, or not with that accelerator.
    """
    # A separate process: QEMU needs a single-threaded parent.
    words = [sys.executable, "-S", "-m", "worker.qemu.host_facts", "--accelerator", accelerator]
    try:
        process = subprocess.run(
            [*words, "--fresh"] if fresh else words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FACTS_SECONDS,
            check=False,
            env=clean_environment(),
        )
    except subprocess.TimeoutExpired as error:
        raise ClusterLost(
            f"the test of this host's QEMU did not finish within {FACTS_SECONDS:.0f} s", code="qemu_not_usable"
        ) from error
    if process.returncode not in {0, NO_QEMU_EXIT, KVM_REFUSED_EXIT}:
        raise ClusterLost(
            f"the test of this host's QEMU failed: {process.stderr[-1000:].strip()}",
            code="qemu_not_usable",
            hint=_INSTALL,
        )
    if process.returncode:
        hint = _INSTALL if process.returncode == NO_QEMU_EXIT else ""
        raise ClusterLost(process.stderr.strip(), code="qemu_not_usable", hint=hint)
    return Host.from_json(json.loads(process.stdout))


_INSTALL = "Install qemu-system-x86 and qemu-utils; `deskarena doctor` shows what works."


def machine_of(folder: Path, image: MachineImage, screen: ScreenSize, host: Host) -> MachineSpec:
    """The machine of an image with that screen.

    Raises:
        ClusterLost: It is not possible here.
    """
    if not image.shows(screen):
        can = ", ".join(f"{screen.width}x{screen.height}" for screen in image.screens)
        raise ClusterLost(
            f"the image {image.name} does not support the screen {screen.width}x{screen.height}",
            code="screen_not_available",
            hint=f"Supported: {can}.",
        )
    boot, uefi, devices = image.boot, image.firmware == "uefi", image.devices
    if uefi and not host.uefi:
        raise ClusterLost(
            f"the image {image.name} needs UEFI, which is not installed",
            code="qemu_not_usable",
            hint=("Install the package ovmf."),
        )
    return MachineSpec(
        system=image.os,
        type=host.type,
        accelerator=host.acceleration.accelerator,
        cpu=host.cpu(image.os),
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


def _command_line(boot: DirectBoot, screen: ScreenSize, host: Host) -> str:
    line = boot.line(screen)
    if not host.emulated:
        return line
    return f"{line} {_READS_LONGER.format(seconds=_TREE_SECONDS * host.patience)}"


def template_key(image: MachineImage, machine: MachineSpec, host: Host) -> str:
    """Changes with image, QEMU, machine type, CPU, memory, devices or screen; 64 hexadecimal digits.

    A template depends on the command line, so that is part of the key; paths are not.
    """
    nowhere = MachineFiles(
        disk="disk", overlay="overlay", memory="memory", below="below", kernel="kernel", initrd="initrd"
    )
    words = arguments(machine, nowhere, monitor=0, incoming=True)
    content = {"image": image.digest(), "host": [host.qemu, host.processor], "words": words}
    return hashlib.sha256(json.dumps(content, sort_keys=True).encode()).hexdigest()
