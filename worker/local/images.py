"""The two kinds of local desktops as the images that a run can name."""

from collections.abc import Callable
from pathlib import Path

from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.machine_image import DEFAULT
from worker.local import wine
from worker.local.programs import programs

LINUX, WINE = "linux", "wine"
SYSTEMS = {DEFAULT: "linux", LINUX: "linux", WINE: "windows"}
"""What the desktops of an image run, by its name; `default` is `linux`."""


def offers(folder: Path, wine_trial: Callable[[], str]) -> tuple[ImageOffer, ...]:
    """What can be had here.

    Args:
        folder: what desktops with Windows programs start from.
        wine_trial: makes one where all is there for it, and says what went wrong; empty if nothing did.
    """
    why = wine.why_not(folder) or wine_trial()
    windows = ImageOffer(
        name=WINE,
        os="windows",
        default=not why,
        about=f"Windows programs by Wine {wine.version()}".strip(),
        programs=() if why else wine.programs(folder),
        prepared=not why,
        reason=why,
    )
    linux = ImageOffer(
        name=LINUX, default=True, about="applications of this machine", programs=programs(), prepared=True
    )
    return linux, windows
