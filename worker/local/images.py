"""The two kinds of local desktops as images that a run can name."""

from collections.abc import Callable
from pathlib import Path

from backend.domain.machines.image_offers import ImageOffer
from backend.domain.machines.machine_image import DEFAULT
from worker.local import wine
from worker.local.programs import programs

LINUX, WINE = "linux", "wine"
SYSTEMS = {DEFAULT: "linux", LINUX: "linux", WINE: "windows"}
"""Image name -> operating system; `default` is `linux`."""


def offers(folder: Path, wine_trial: Callable[[], str]) -> tuple[ImageOffer, ...]:
    """Available images.

    Args:
        folder: template of desktops with Windows programs.
        wine_trial: creates one if Wine is installed, and returns what went wrong; empty if nothing.
    """
    problem = wine.why_not(folder) or wine_trial()
    windows = ImageOffer(
        name=WINE,
        os="windows",
        default=not problem,
        about=f"Windows programs with Wine {wine.version()}".strip(),
        programs=() if problem else wine.programs(folder),
        prepared=not problem,
        reason=problem,
    )
    linux = ImageOffer(
        name=LINUX, default=True, about="applications of this machine", programs=programs(), prepared=True
    )
    return linux, windows
