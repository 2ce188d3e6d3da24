"""Images that a provider can make desktops of, and which of them an attempt gets."""

from collections.abc import Sequence

from pydantic import Field

from backend.domain.machines.machine_image import DEFAULT
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen


class ImageOffer(Frozen):
    """What a provider says of one of its images.

    Attributes:
        name: as a run names it.
        os: `linux` or `windows`, as tasks name it.
        default: it is taken where a run names none.
        about: for people: variant, version, memory.
        programs: commands found on it, as `Availability.programs`.
        screens: sizes in pixels that it can show; empty = any.
        prepared: the template that its desktops are cloned from is there; False: the first one makes it, and takes
            longer. None where there are no templates, or each of several places has its own.
        reason: why no desktop can be made of it here; empty if one can.
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
    """The name that an attempt's DesktopSpec bears.

    Args:
        offers: of the provider; empty where it has only one kind of desktop.
        requested: what the run names, None = nothing.
        system: of the task: among several images, one of that system is taken, the default one first.
    """
    if requested is not None:
        return requested
    fitting = sorted((offer for offer in offers if offer.os == system), key=lambda offer: not offer.default)
    # One that cannot be used is no choice, unless it is the default or there is no other.
    fitting = [offer for offer in fitting if offer.default or not offer.reason] or fitting
    return fitting[0].name if fitting and (fitting[0].default or len(fitting) == 1) else DEFAULT
