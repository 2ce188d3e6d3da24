"""A machine image that boots in seconds where everything is emulated: a kernel, busybox, and a guest API of one script.

Kernel and busybox are Debian's packages, fetched by apt into `.setup/` once and unpacked there: nothing is installed.
"""

import fcntl
import gzip
import io
import re
import shutil
import stat
import subprocess
from datetime import UTC, datetime
from pathlib import Path

import pytest

from backend.domain.machines.machine_image import (
    Devices,
    DirectBoot,
    MachineImage,
    SystemDisk,
    describe_file,
    write_image,
)
from backend.domain.model.run import ScreenSize
from worker.qemu.overlay import empty_overlay

ROOT = Path(__file__).resolve().parents[2]
STORE = ROOT / ".setup" / "tiny-machine"
NAME = "tiny"
MEMORY_MIB = 128
SCREEN = ScreenSize(width=640, height=480)
DRIVERS = ("virtio_pci", "virtio_net", "virtio_blk", "pvpanic_mmio")
_KERNEL, _BUSYBOX = "linux-image-cloud-amd64", "busybox-static"
_DISK_BYTES = 64 * 2**20
_INIT = """#!/bin/busybox sh
/bin/busybox --install -s /bin
mount -t devtmpfs dev /dev
mount -t proc proc /proc
mount -t sysfs sys /sys
while read -r driver; do insmod "/drivers/$driver"; done </drivers/order
ip link set lo up
ip link set eth0 up
ip addr add 10.0.2.15/24 dev eth0
ip route add default via 10.0.2.2
tr '\\0' '\\n' </sys/firmware/dmi/tables/DMI | sed -n 's/.*io.systemd.credential:deskarena.secret=//p' >/secret
exec nc -ll -p 5000 -e /answer
"""


def needs_qemu() -> None:
    """Skips where there is no QEMU."""
    if shutil.which("qemu-system-x86_64") is None:
        pytest.skip("needs QEMU: apt install qemu-system-x86 qemu-utils")


def packages() -> Path:
    """The folder of the unpacked packages."""
    STORE.mkdir(parents=True, exist_ok=True)
    with (STORE / "lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)  # Several workers of a test run ask at once.
        if not (STORE / "done").exists():
            _fetch()
    return STORE


def _fetch() -> None:
    try:
        for name in (_dependency(_KERNEL), _BUSYBOX):
            _run("apt-get", "download", name)
        for package in STORE.glob("*.deb"):
            _run("dpkg-deb", "-x", str(package), str(STORE))
            package.unlink()
    except (OSError, subprocess.SubprocessError) as error:
        pytest.skip(f"needs the packages {_KERNEL} and {_BUSYBOX}, which apt does not give: {error}")
    (STORE / "done").touch()


def _run(*words: str) -> str:
    done = subprocess.run(words, cwd=STORE, capture_output=True, text=True, check=True, timeout=240)
    return done.stdout


def _dependency(name: str) -> str:
    """The package that a package of no content leads to."""
    match = re.search(r"Depends: (linux-image-\S+)", _run("apt-cache", "depends", name))
    return match[1] if match else name


def drivers(store: Path) -> list[Path]:
    """The kernel's drivers, each after those that it needs."""
    known = {module.stem.replace("-", "_"): module for module in store.glob("**/lib/modules/**/*.ko")}
    ordered: list[Path] = []

    def add(name: str) -> None:
        file = known[name]
        match = re.search(rb"\0depends=([^\0]*)\0", file.read_bytes())
        for needed in (match[1].decode() if match else "").split(","):
            if needed:
                add(needed.replace("-", "_"))
        if file not in ordered:
            ordered.append(file)

    for name in DRIVERS:
        add(name)
    return ordered


def _entry(name: str, data: bytes, mode: int) -> bytes:
    """One file of an archive in cpio's format `newc`."""
    path = name.encode() + b"\0"
    numbers = (0, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(path), 0)
    head = b"070701" + b"".join(f"{number:08X}".encode() for number in numbers) + path
    return _padded(head) + _padded(data)


def _padded(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)


def archive(store: Path, screen: ScreenSize) -> bytes:
    """The initial memory disk: everything that the machine has."""
    script = (Path(__file__).parent / "tiny_answer.sh").read_text()
    script = script.replace("WIDTH", str(screen.width)).replace("HEIGHT", str(screen.height))
    driver_files = drivers(store)
    folders = ("bin", "dev", "proc", "sys", "drivers", "tmp")
    program = stat.S_IFREG | 0o755
    parts = [_entry(name, b"", stat.S_IFDIR | 0o755) for name in folders]
    parts += [_entry(f"drivers/{driver.name}", driver.read_bytes(), program) for driver in driver_files]
    parts += [_entry("drivers/order", "".join(f"{driver.name}\n" for driver in driver_files).encode(), program)]
    parts += [_entry("bin/busybox", next(store.glob("**/bin/busybox")).read_bytes(), program)]
    parts += [_entry("init", _INIT.encode(), program), _entry("answer", script.encode(), program)]
    parts += [_entry("picture.jpg", _picture(screen), program), _entry("TRAILER!!!", b"", 0)]
    return b"".join(parts)


def _picture(screen: ScreenSize) -> bytes:
    from PIL import Image

    out = io.BytesIO()
    Image.new("RGB", (screen.width, screen.height), "steelblue").save(out, "JPEG")
    return out.getvalue()


def tiny_image(
    images: Path, *, name: str = NAME, screen: ScreenSize = SCREEN, command_line: str = "quiet panic=-1"
) -> Path:
    """Makes the image in a folder such as `DATA/images`; skips the test if it cannot be made."""
    needs_qemu()
    store, folder = packages(), images / name
    folder.mkdir(parents=True)
    shutil.copyfile(next(store.glob("boot/vmlinuz-*")), folder / "vmlinuz")
    (folder / "initrd.img").write_bytes(gzip.compress(archive(store, screen), 1))
    (folder / "disk.qcow2").write_bytes(empty_overlay(_DISK_BYTES))
    image = MachineImage.model_validate(
        {
            "name": name,
            "os": "linux",
            "variant": "tiny",
            "version": "1",
            "made_at": datetime(2026, 1, 1, tzinfo=UTC),
            "guest_api": "1.1",
            "screens": [screen],
            "memory_mib": MEMORY_MIB,
            "cpus": 1,
            "firmware": "bios",
            "disk": SystemDisk(**describe_file(folder / "disk.qcow2"), virtual_size=_DISK_BYTES),
            "boot": DirectBoot.model_validate(
                {
                    "kernel": describe_file(folder / "vmlinuz"),
                    "initrd": describe_file(folder / "initrd.img"),
                    "command_line": command_line,
                }
            ),
            "devices": Devices(entropy=False),
            "programs": ["sh"],
        }
    )
    write_image(folder, image)
    return folder
