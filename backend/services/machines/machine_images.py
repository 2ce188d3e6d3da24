"""The machine images of this machine's data folder: which there are, what they are good for, and removing one."""

import contextlib
import json
import shutil
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path

from backend.domain.errors import DeskarenaError, NotFound
from backend.domain.machines.machine_image import NAME, MachineImage, image_names, read_image

IMAGES, TEMPLATES = "images", "templates"
ABOUT = "template.json"
_MIB, _GIB = 2**20, 2**30


@dataclass(frozen=True)
class FoundTemplate:
    """A template that was made of an image: a machine that waits to be cloned.

    Attributes:
        screen: width and height in pixels.
        size: bytes on the disk.
    """

    place: Path
    screen: tuple[int, int]
    size: int


@dataclass(frozen=True)
class FoundImage:
    """A folder of images.

    Attributes:
        image: what it says of itself; None if it is not whole.
        problem: why it cannot be used; empty if it can.
        size: bytes on the disk.
        default: it is taken where a run names none.
    """

    name: str
    place: Path
    image: MachineImage | None
    problem: str
    size: int
    templates: tuple[FoundTemplate, ...]
    default: bool = False


def all_images(data: Path, default: str = "") -> list[FoundImage]:
    """Every image of a data folder by name, those included that are not whole.

    Args:
        data: the data folder.
        default: name that the settings give; empty = the only one, if there is only one.
    """
    folder = data / IMAGES
    if not folder.is_dir():
        return []
    templates = list(_templates(data))
    names = sorted(each.name for each in folder.iterdir() if each.is_dir() and NAME.fullmatch(each.name))
    whole = list(image_names(folder))
    default = default or (whole[0] if len(whole) == 1 else "")
    return [_read_image(folder / name, [each for image, each in templates if image == name], default) for name in names]


def one_image(data: Path, name: str, default: str = "") -> FoundImage:
    """The image of that name. Raises NotFound, which says which there are."""
    images = all_images(data, default)
    for each in images:
        if each.name == name:
            return each
    known = ", ".join(each.name for each in images) or "none"
    raise NotFound(
        f"there is no image {name!r} in {data / IMAGES}", code="image_not_found", hint=f"There are: {known}."
    )


def remove_image(data: Path, name: str) -> int:
    """Removes an image with its templates. Machines of it that run go on, since they have its files open.

    Returns:
        Bytes that were freed.

    Raises:
        NotFound: there is none of that name.
        OSError: it cannot be removed.
    """
    image = one_image(data, name)
    # First the name, at once: what is half removed must not look like an image.
    aside = image.place.with_name(f".removed-{name}")
    shutil.rmtree(aside, ignore_errors=True)
    image.place.rename(aside)
    shutil.rmtree(aside)
    for template in image.templates:
        shutil.rmtree(template.place)
        template.place.with_name(f"{template.place.name}.lock").unlink(missing_ok=True)
    return image.size + sum(template.size for template in image.templates)


def _read_image(place: Path, templates: Iterable[FoundTemplate], default: str) -> FoundImage:
    image, problem = None, ""
    try:
        image = read_image(place)
    except DeskarenaError as error:
        problem = str(error)
    return FoundImage(place.name, place, image, problem, _size(place), tuple(templates), place.name == default)


def _templates(data: Path) -> Iterable[tuple[str, FoundTemplate]]:
    """(name of the image, template) of every template that says what it is."""
    folder = data / TEMPLATES
    for place in sorted(folder.iterdir()) if folder.is_dir() else []:
        with contextlib.suppress(OSError, ValueError, KeyError, TypeError):
            facts = json.loads((place / ABOUT).read_text(encoding="utf-8"))
            width, height = facts["screen"]
            yield str(facts["image"]), FoundTemplate(place, (int(width), int(height)), _size(place))


def _size(place: Path) -> int:
    """Bytes that a folder takes on the disk: files with holes take less than they are long."""
    return sum(each.lstat().st_blocks * 512 for each in place.rglob("*") if each.is_file())


def about(image: MachineImage) -> str:
    """An image in a line: variant, version, memory and processors, disk as the guest sees it."""
    machine = f"{image.memory_mib / 1024:.3g} GiB, {image.cpus} processor{'' if image.cpus == 1 else 's'}"
    return f"{image.variant} {image.version}; {machine}, disk {image.disk.virtual_size / _GIB:.3g} GiB"
