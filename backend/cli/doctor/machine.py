"""Checks of virtual machines, memory and disk."""

import json
import os
import shutil
import subprocess
import sys
from dataclasses import replace
from pathlib import Path
from typing import Any

import psutil

from backend.cli.doctor.check import CheckWords, DoctorCheck, first_line
from backend.domain.machines.slots import FreeResources
from backend.domain.model.units import GIB

CHECKOUT = Path(__file__).resolve().parents[3]
LEAST_DISK_GIB, LEAST_MEMORY_GIB = 2.0, 2.0

FACTS_SECONDS = 300.0
KVM_REFUSED_EXIT, UNFINISHED = 4, "unfinished"
"""Exit code and state of `worker.qemu.host_facts`: KVM is required but cannot be used; the trial guest was stopped."""
KVM = CheckWords(
    name="kvm",
    works="hardware virtualisation: VM desktops run at full speed",
    lacks="VM desktops are emulated, 10 to 30 times slower than with hardware virtualisation; local desktops are not "
    "affected",
    install="enable virtualisation in the firmware (nested, in a VM) and load kvm_intel or kvm_amd",
)
KVM_HINTS = {
    "slower": "use a host with hardware virtualisation; DESKARENA_ACCELERATOR=kvm uses this KVM "
    "anyway, if it finishes the trial guest within 30 s",
    "no_access": ("give QEMU's user access: chgrp kvm /dev/kvm, chmod 660 /dev/kvm, and add the user to the group kvm"),
    "set": "unset DESKARENA_ACCELERATOR to use KVM only where it is faster",
}
"""Hints by reason code."""
QEMU = CheckWords(
    name="qemu",
    works="VM desktops can run (with kvm at full speed, else emulated)",
    lacks="no VM desktops on this machine; local desktops are not affected",
    install="apt install qemu-system-x86 qemu-utils",
)
IMAGES = CheckWords(
    name="images",
    works="VM desktops can be created from them",
    lacks="no VM desktops on this machine: no image is available",
    install="deskarena image build linux, or deskarena image build windows --iso FILE",
)
MEMORY = CheckWords(
    name="memory",
    works="room for desktops: about 0.5 GiB for a local one with a light application",
    lacks="desktops may be killed for lack of memory",
    install="free memory, or use fewer slots (--slots)",
)
DISK = CheckWords(
    name="disk",
    works="room for screenshots: about 0.1 MiB a step",
    lacks="screenshots may not fit",
    install="free space, or choose another data folder with --data",
)


def machines(accelerator: str) -> list[DoctorCheck]:
    """Runs a trial guest emulated and with KVM, by the worker's own code.

    Args:
        accelerator: the setting.
    """
    words = [sys.executable, "-P", "-S", "-m", "worker.qemu.host_facts", "--fresh", "--accelerator", accelerator]
    try:
        process = subprocess.run(
            words,
            stdin=subprocess.DEVNULL,
            capture_output=True,
            text=True,
            timeout=FACTS_SECONDS,
            check=False,
            env={**os.environ, "PYTHONPATH": str(CHECKOUT)},
        )
    except (OSError, subprocess.TimeoutExpired) as error:
        return unusable(f"the test of QEMU failed: {error}")
    if process.returncode == 0:
        return usable(json.loads(process.stdout))
    reason = first_line(process.stderr)
    return kvm_refused(reason) if process.returncode == KVM_REFUSED_EXIT else unusable(reason)


def usable(facts: dict[str, Any]) -> list[DoctorCheck]:
    """Output of `worker.qemu.host_facts` as checks."""
    choice = facts["acceleration"]
    emulated = sum(choice["seconds"]["tcg"].values())
    with_kvm, uses_kvm = choice["seconds"].get("kvm", {}), choice["accelerator"] == "kvm"
    refused = "refused and left out" if uses_kvm else "it refuses"
    notes = f"; {refused}: {', '.join(choice['refused'])}" if choice["refused"] else ""
    qemu = QEMU.ok(f"{facts['qemu']}; a trial guest took {emulated:.1f} s emulated")
    if with_kvm:
        took = "was stopped after" if UNFINISHED in with_kvm else "took"
        notes += f"; the trial guest {took} {sum(with_kvm.values()):.1f} s with it"
    if uses_kvm:
        return [KVM.ok(f"{choice['detail']}{notes}"), qemu]
    check = {"no_device": KVM.missing, "set": KVM.untried}.get(choice["reason"], KVM.broken)
    kvm = check(f"{choice['detail']}; machines are emulated{notes}")
    return [replace(kvm, install=KVM_HINTS.get(choice["reason"], kvm.install)), qemu]


def unusable(detail: str) -> list[DoctorCheck]:
    """Checks when no machine runs at all."""
    qemu = QEMU.broken(detail) if shutil.which("qemu-system-x86_64") else QEMU.missing(detail)
    return [replace(KVM.untried("QEMU cannot be used"), install="see qemu"), qemu]


def kvm_refused(detail: str) -> list[DoctorCheck]:
    """Check when KVM is required but cannot be used; the detail says what to do."""
    advice = "set DESKARENA_ACCELERATOR to auto, or use a host with hardware virtualisation"
    kvm = replace(KVM.broken(detail), means=QEMU.lacks, install=advice)
    return [kvm, replace(QEMU.untried("DESKARENA_ACCELERATOR is kvm, and KVM cannot be used"), install="see kvm")]


def images(data: Path) -> DoctorCheck:
    """Checks the manifest of each image."""
    from backend.services.machines.machine_images import all_images

    entries = all_images(data)
    good = [f"{entry.name} ({entry.image.os})" for entry in entries if entry.image is not None]
    bad = [f"{entry.name}: {entry.problem}" for entry in entries if entry.problem]
    if good:
        return IMAGES.ok("; ".join([", ".join(good), *bad]))
    return IMAGES.broken("; ".join(bad)) if bad else IMAGES.missing(f"no images in {data / 'images'}")


def room(data: Path) -> FreeResources:
    """Resources of this machine that desktops can use."""
    free = shutil.disk_usage(_existing(data)).free
    return FreeResources(psutil.virtual_memory().available, len(os.sched_getaffinity(0)), free)


def memory() -> DoctorCheck:
    """Checks the available memory."""
    available = psutil.virtual_memory().available / GIB
    detail = f"{available:.1f} GiB available, {os.cpu_count()} processors"
    return MEMORY.ok(detail) if available >= LEAST_MEMORY_GIB else MEMORY.broken(detail)


def disk(data: Path) -> DoctorCheck:
    """Checks the free space of the data folder's disk."""
    free = shutil.disk_usage(_existing(data)).free / GIB
    detail = f"{free:.1f} GiB free for {data}"
    return DISK.ok(detail) if free >= LEAST_DISK_GIB else DISK.broken(detail)


def _existing(data: Path) -> Path:
    """The data folder, or the nearest existing parent of it."""
    return next(path for path in (data, *data.parents) if path.exists())
