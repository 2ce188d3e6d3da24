"""Initial file system for booting: the drivers of disk and screen, and a program that loads them.

Debian's initrd probes the hardware; ours knows it, and is ready in a second. Format: cpio `newc`, see
https://docs.kernel.org/driver-api/early-userspace/buffer-format.html.
"""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path, PurePosixPath

DRIVERS = (
    *("virtio_pci", "virtio_blk", "crc32c-intel", "crc32c_generic", "ext4"),
    *("virtio-gpu", "virtio_net", "virtio-rng", "evdev"),
)
"""In loading order, with dependencies. Includes drivers that the system would load itself, but more slowly."""
_FOLDER, _FILE, _PROGRAM = 0o040755, 0o100644, 0o100755
_TRAILER = "TRAILER!!!"


def drivers_in_order(dependencies: str, drivers: Sequence[str] = DRIVERS) -> list[PurePosixPath]:
    """Paths of modules below the kernel's module folder, dependencies first.

    Args:
        dependencies: content of `modules.dep`.
        drivers: names of modules; `-` and `_` are equal.

    Raises:
        ValueError: The kernel has no such module.
    """
    lines = (line.partition(":") for line in dependencies.splitlines())
    needs = {name: required.split() for name, _, required in lines if name}
    by_name = {_plain(PurePosixPath(path).name): path for path in needs}
    order: dict[str, None] = {}
    for name in drivers:
        path = by_name.get(_plain(f"{name}.ko"))
        if path is None:
            raise ValueError(f"the kernel has no module {name}")
        _add(path, needs, order)
    return [PurePosixPath(path) for path in order]


def _plain(name: str) -> str:
    return name.replace("-", "_")


def _add(path: str, needs: Mapping[str, Sequence[str]], order: dict[str, None]) -> None:
    for needed in needs[path]:
        _add(needed, needs, order)
    order.setdefault(path)


def initrd(root: Path, init: Path) -> bytes:
    """Initial file system for an image's kernel.

    Args:
        root: the image's file system.
        init: first program of the boot.

    Raises:
        OSError, ValueError: a file is missing.
    """
    folders = sorted((root / "usr/lib/modules").iterdir())
    if len(folders) != 1:
        raise ValueError(f"expected one kernel, found {len(folders)}")
    order = drivers_in_order((folders[0] / "modules.dep").read_text())
    files: dict[str, tuple[int, bytes]] = {
        "init": (_PROGRAM, init.read_bytes()),
        "bin/busybox": (_PROGRAM, (root / "usr/bin/busybox").read_bytes()),
        "modules/order": (_FILE, "".join(f"{path.name}\n" for path in order).encode()),
        **{f"modules/{path.name}": (_FILE, (folders[0] / path).read_bytes()) for path in order},
    }
    return cpio({**dict.fromkeys(("bin", "dev", "disk", "modules"), (_FOLDER, b"")), **files})


def cpio(entries: Mapping[str, tuple[int, bytes]]) -> bytes:
    """Archive of path -> (type and mode, content); owner root, time 1970. Folders come first."""
    pieces = [b"".join(_entry(number, *entry)) for number, entry in enumerate(_with_trailer(entries), start=1)]
    return b"".join(pieces)


def _with_trailer(entries: Mapping[str, tuple[int, bytes]]) -> Iterator[tuple[str, int, bytes]]:
    for name, (mode, data) in entries.items():
        yield name, mode, data
    yield _TRAILER, 0, b""


def _entry(number: int, name: str, mode: int, data: bytes) -> tuple[bytes, bytes]:
    """Header, name and content, each padded to four bytes."""
    numbers = (number, mode, 0, 0, 1, 0, len(data), 0, 0, 0, 0, len(name) + 1, 0)
    head = "070701" + "".join(f"{value:08X}" for value in numbers) + name + "\0"
    return _pad(head.encode()), _pad(data)


def _pad(data: bytes) -> bytes:
    return data + bytes(-len(data) % 4)
