"""Virtual machines, memory and disk."""

import os
import shutil
from pathlib import Path

import psutil

from backend.cli.doctor.check import Check, Probe
from backend.domain.slots import Room
from backend.services.kvm import DEVICE, why_not

GIB = 2**30
LEAST_DISK_GIB, LEAST_MEMORY_GIB = 2.0, 2.0

KVM = Probe(
    name="kvm",
    works="hardware virtualisation: VM desktops run at full speed",
    lacks="VM desktops fall back to QEMU's emulation, 10 to 30 times slower; local desktops are not affected",
    install="enable virtualisation in the firmware (nested, in a VM), load kvm_intel or kvm_amd, join the group kvm",
)
TCG = Probe(
    name="qemu",
    works="VM desktops can run (with kvm at full speed, else emulated)",
    lacks="no VM desktops on this machine; local desktops are not affected",
    install="apt install qemu-system-x86 qemu-utils",
)
IMAGES = Probe(
    name="images",
    works="VM desktops can be made of them",
    lacks="no VM desktops on this machine: there is nothing to make them of",
    install="deskarena image build linux, or deskarena image build windows --iso FILE",
)
MEMORY = Probe(
    name="memory",
    works="room for desktops: about 0.5 GiB for a local one with a light application",
    lacks="desktops may be ended for lack of memory",
    install="free memory, or use fewer slots (--slots)",
)
DISK = Probe(
    name="disk",
    works="room for screenshots: about 0.1 MiB a step",
    lacks="screenshots may not fit",
    install="free space, or choose another data folder with --data",
)


def kvm() -> Check:
    """Boot a machine."""
    why = why_not()
    if not why:
        return KVM.ok("a machine booted")
    return KVM.broken(why) if DEVICE.exists() else KVM.missing(why)


def qemu() -> Check:
    """Ask QEMU for its version; TCG is part of every build of Debian's."""
    return TCG.program(["qemu-system-x86_64", "--version"])


def images(data: Path) -> Check:
    """Read what each image says of itself."""
    from backend.services.machine_images import all_images

    found = all_images(data)
    good = [f"{each.name} ({each.image.os})" for each in found if each.image is not None]
    bad = [f"{each.name}: {each.problem}" for each in found if each.problem]
    if good:
        return IMAGES.ok("; ".join([", ".join(good), *bad]))
    return IMAGES.broken("; ".join(bad)) if bad else IMAGES.missing(f"no image in {data / 'images'}")


def room(data: Path) -> Room:
    """What desktops can have of this machine."""
    free = shutil.disk_usage(_existing(data)).free
    return Room(psutil.virtual_memory().available, len(os.sched_getaffinity(0)), free)


def memory() -> Check:
    """Memory that can be had now."""
    available = psutil.virtual_memory().available / GIB
    detail = f"{available:.1f} GiB available, {os.cpu_count()} processors"
    return MEMORY.ok(detail) if available >= LEAST_MEMORY_GIB else MEMORY.broken(detail)


def disk(data: Path) -> Check:
    """Free space where the data folder is or would be."""
    free = shutil.disk_usage(_existing(data)).free / GIB
    detail = f"{free:.1f} GiB free for {data}"
    return DISK.ok(detail) if free >= LEAST_DISK_GIB else DISK.broken(detail)


def _existing(data: Path) -> Path:
    """The data folder, or where it would be made."""
    return next(path for path in (data, *data.parents) if path.exists())
