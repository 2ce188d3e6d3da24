"""What the machine images of a data folder offer on this host."""

from pathlib import Path

from backend.domain.errors import DeskarenaError
from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.machine_image import MachineImage, image_names, read_image
from backend.services.machines.machine_images import about
from worker.qemu.plan import Host, machine_of
from worker.qemu.templates import Templates


def offers(images: Path, templates: Templates, host: Host, *, default: str) -> tuple[ImageOffer, ...]:
    """One offer for each whole image.

    Args:
        images: such as `DATA/images`.
        templates: that are there.
        host: where its machines would run.
        default: name of the image that is taken where none is named; empty = the only one.
    """
    names, prepared = tuple(image_names(images)), {template.image for template in templates.all()}
    default_name = default or (names[0] if len(names) == 1 else "")
    return tuple(_offer(images / name, host, default=name == default_name, prepared=name in prepared) for name in names)


def _offer(folder: Path, host: Host, *, default: bool, prepared: bool) -> ImageOffer:
    try:
        image = read_image(folder)
    except DeskarenaError as error:
        return ImageOffer(name=folder.name, default=default, reason=error.told)
    try:
        machine_of(folder, image, image.screens[0], host)
        reason = ""
    except DeskarenaError as error:
        reason = error.told
    return offer_of(image, default=default, prepared=prepared, reason=reason)


def offer_of(image: MachineImage, *, default: bool, prepared: bool | None, reason: str = "") -> ImageOffer:
    """What an image offers.

    Args:
        image: that it is.
        default: it is taken where none is named.
        prepared: whether its template is there; None = there are several, or it is not known.
        reason: why no machine of it can be made.
    """
    return ImageOffer(
        name=image.name,
        os=image.os,
        default=default,
        about=about(image),
        programs=image.programs,
        screens=image.screens,
        prepared=prepared,
        reason=reason,
    )
