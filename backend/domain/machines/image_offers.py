"""Images that a provider offers, and the choice for an attempt."""

from collections.abc import Sequence

from pydantic import Field

from backend.domain.machines.machine_image import DEFAULT
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen


class ImageOffer(Frozen):
    """A provider's description of one of its images.

    Attributes:
        name: its name in runs.
        os: `linux` or `windows`.
        default: used if a run names none.
        about: description for people: variant, version, memory.
        programs: commands found on it, as `Availability.programs`.
        screens: supported screen sizes in pixels; empty = any.
        prepared: whether the template for cloning exists; False: the first desktop creates it, which takes longer. None
            without templates, or if each of several places has its own.
        reason: why it cannot be used here; empty if it can.
    """

    name: str
    os: str = "linux"
    default: bool = False
    about: str = ""
    programs: tuple[str, ...] = ()
    screens: tuple[ScreenSize, ...] = ()
    prepared: bool | None = None
    reason: str = Field(default="")


def image_for(offers: Sequence[ImageOffer], requested: str | None, system: str) -> str:
    """The image name for an attempt's DesktopSpec.

    Args:
        offers: the provider's offers; empty if it has only one kind of desktop.
        requested: the run's choice; None = no choice.
        system: the task's system: among several images, one of that system is used, preferably the default one.
    """
    if requested is not None:
        return requested
    fitting = sorted((offer for offer in offers if offer.os == system), key=lambda offer: not offer.default)
    # An unusable image is skipped, unless it is the default or there is no other.
    fitting = [offer for offer in fitting if offer.default or not offer.reason] or fitting
    return fitting[0].name if fitting and (fitting[0].default or len(fitting) == 1) else DEFAULT
