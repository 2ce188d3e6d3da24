"""Machine images for tests: folders with small files that nobody boots."""

from pathlib import Path
from typing import Any

from backend.domain.machines.machine_image import MachineImage, describe_file, moment, write_image

SAID: dict[str, Any] = {
    "name": "debian",
    "os": "linux",
    "variant": "minimal",
    "version": "1",
    "made_at": moment(1_700_000_000),
    "guest_api": "1.1",
    "screens": [{"width": 1920, "height": 1080}, {"width": 1280, "height": 800}],
    "memory_mib": 768,
    "cpus": 2,
    "firmware": "bios",
    "disk": {"file": "disk.qcow2", "sha256": "a" * 64, "size": 10, "virtual_size": 2**33},
    "packages": [{"name": "mousepad", "version": "0.5.10"}],
    "programs": ["mousepad"],
}


def image_of(**changes: Any) -> MachineImage:
    """An image's manifest; its files are nowhere."""
    return MachineImage.model_validate(SAID | changes)


def write_small_image(images: Path, name: str = "debian", **changes: Any) -> MachineImage:
    """A whole image with a disk of some bytes, in a folder such as `DATA/images`."""
    folder = images / name
    folder.mkdir(parents=True)
    (folder / "disk.qcow2").write_bytes(b"disk of " + name.encode())
    image = image_of(name=name, disk=describe_file(folder / "disk.qcow2") | {"virtual_size": 2**33}, **changes)
    write_image(folder, image)
    return image
