"""Image offers of a data folder on this host."""

from pathlib import Path

from backend.domain.errors import DeskarenaError
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.machine_image import MachineImage, image_names, read_image
from backend.services.machines.machine_images import description
from worker.qemu.plan import Host, machine_of
from worker.qemu.templates import Templates


def offers(images: Path, templates: Templates, host: Host, *, default: str) -> tuple[ImageOffer, ...]:
    """One offer per complete image.

    Args:
        images: such as `DATA/images`.
        templates: existing ones.
        host: that would run its machines.
        default: image for runs that name none; empty = the only one.
    """
    names, prepared = tuple(image_names(images)), {template.image for template in templates.all()}
    default_name = default or (names[0] if len(names) == 1 else "")
    return tuple(_offer(images / name, host, default=name == default_name, prepared=name in prepared) for name in names)


def _offer(folder: Path, host: Host, *, default: bool, prepared: bool) -> ImageOffer:
    try:
        image = read_image(folder)
    except DeskarenaError as error:
        return ImageOffer(name=folder.name, default=default, reason=error.text)
    try:
        machine_of(folder, image, image.screens[0], host)
        reason = ""
    except DeskarenaError as error:
        reason = error.text
    return offer_of(image, default=default, prepared=prepared, reason=reason)


def offer_of(image: MachineImage, *, default: bool, prepared: bool | None, reason: str = "") -> ImageOffer:
    """The offer of an image.

    Args:
        image: the image.
        default: whether runs that name none use it.
        prepared: whether its template exists; None = there are several, or it is unknown.
        reason: why no machine of it can be created.
    """
    return ImageOffer(
        name=image.name,
        os=image.os,
        default=default,
        about=description(image),
        programs=image.programs,
        screens=image.screens,
        prepared=prepared,
        reason=reason,
    )
