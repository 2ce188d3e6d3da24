"""Machine images of this machine's data folder: list, status, removal."""

import contextlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import DeskarenaError, NotFound
from backend.domain.machines.machine_image import NAME, MachineImage, image_names, read_image
from backend.domain.model.units import GIB

IMAGES, TEMPLATES = "images", "templates"
ABOUT = "template.json"


@dataclass(frozen=True)
class FoundTemplate:
    """A template of an image.

    Attributes:
        screen: width and height in pixels.
        size: bytes on the disk.
    """

    folder: Path
    screen: tuple[int, int]
    size: int


@dataclass(frozen=True)
class FoundImage:
    """A folder of an image.

    Attributes:
        image: its manifest; None if it is incomplete.
        problem: why it cannot be used; empty if it can.
        size: bytes on the disk.
        default: used by runs that name none.
    """

    name: str
    folder: Path
    image: MachineImage | None
    problem: str
    size: int
    templates: tuple[FoundTemplate, ...]
    default: bool = False


def all_images(data: Path, default: str = "") -> list[FoundImage]:
    """All images of a data folder by name, including incomplete ones.

    Args:
        data: the data folder.
        default: name in the settings; empty = the only image, if there is one.
    """
    folder = data / IMAGES
    if not folder.is_dir():
        return []
    templates = list(_templates(data))
    names = sorted(
        subfolder.name for subfolder in folder.iterdir() if subfolder.is_dir() and NAME.fullmatch(subfolder.name)
    )
    all_names = list(image_names(folder))
    default = default or (all_names[0] if len(all_names) == 1 else "")
    return [
        _read_image(folder / name, [screen_size for image, screen_size in templates if image == name], default)
        for name in names
    ]


def image_by_name(data: Path, name: str, default: str = "") -> FoundImage:
    """The image of that name. Raises NotFound, which lists existing ones."""
    images = all_images(data, default)
    for image in images:
        if image.name == name:
            return image
    names = ", ".join(image.name for image in images) or "none"
    raise NotFound(
        f"there is no image {name!r} in {data / IMAGES}", code="image_not_found", hint=f"There are: {names}."
    )


def remove_image(data: Path, name: str) -> int:
    """Removes an image with its templates. Running machines continue, since they have its files open.

    Returns:
        Freed bytes.

    Raises:
        NotFound: There is no image of that name.
        OSError: It cannot be removed.
    """
    image = image_by_name(data, name)
    # Rename first: a partially removed folder must not look like an image.
    aside = image.folder.with_name(f".removed-{name}")
    shutil.rmtree(aside, ignore_errors=True)
    image.folder.rename(aside)
    shutil.rmtree(aside)
    for template in image.templates:
        shutil.rmtree(template.folder)
        template.folder.with_name(f"{template.folder.name}.lock").unlink(missing_ok=True)
    return image.size + sum(template.size for template in image.templates)


def _read_image(folder: Path, templates: Iterable[FoundTemplate], default: str) -> FoundImage:
    image, problem = None, ""
    try:
        image = read_image(folder)
    except DeskarenaError as error:
        problem = str(error)
    return FoundImage(folder.name, folder, image, problem, _size(folder), tuple(templates), folder.name == default)


def _templates(data: Path) -> Iterable[tuple[str, FoundTemplate]]:
    """(image name, template) of every valid template."""
    templates = data / TEMPLATES
    for folder in sorted(templates.iterdir()) if templates.is_dir() else []:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads((folder / ABOUT).read_text(encoding="utf-8"))
            width, height = facts["screen"]
            yield str(facts["image"]), FoundTemplate(folder, (int(width), int(height)), _size(folder))


def _size(folder: Path) -> int:
    """Disk usage of a folder: sparse files use less than their length."""
    return sum(path.lstat().st_blocks * 512 for path in folder.rglob("*") if path.is_file())


def description(image: MachineImage) -> str:
    """An image on one line: variant, version, memory, CPUs, disk size for the guest."""
    machine = f"{image.memory_mib / 1024:.3g} GiB, {image.cpus} processor{'' if image.cpus == 1 else 's'}"
    return f"{image.variant} {image.version}; {machine}, disk {image.disk.virtual_size / GIB:.3g} GiB"
