"""The check list of a Linux image: a machine of it, as any attempt gets it, and every application started in it."""

from collections.abc import Iterator, Sequence
from pathlib import Path

import yaml
from pydantic import Field

from backend.domain.machines.machine_image import MachineImage
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen
from backend.domain.ports.desktop import DesktopSpec, Provider
from worker.images.checks import CheckResult, ProgramCheck, basics, starts
from worker.images.linux.options import Variant

FILE = "programs.yaml"
SCREEN = ScreenSize(width=1280, height=800)
SLOT = SlotRef(0)


class Application(ProgramCheck):
    """An application of an image.

    Attributes:
        name: as people call it.
        seconds: that its window may take: the first of all takes more than one minute where a busy host emulates.
    """

    name: str = Field(min_length=1)
    seconds: float = Field(default=300, gt=0, le=600)


class _Lists(Frozen):
    """The file: `full` has what is listed for `minimal`, too."""

    minimal: tuple[Application, ...] = Field(min_length=1)
    full: tuple[Application, ...] = Field(min_length=1)


def applications(linux: Path, variant: Variant) -> tuple[Application, ...]:
    """The applications of a variant.

    Args:
        linux: the folder of the image's lists, see `Sources`.
        variant: of the image.

    Raises:
        OSError: the list cannot be read.
        ValueError: it is wrong.
    """
    lists = _Lists.model_validate(yaml.safe_load((linux / FILE).read_text()))
    return lists.minimal + (lists.full if variant == "full" else ())


def check_list(provider: Provider, image: MachineImage, apps: Sequence[Application]) -> Iterator[CheckResult]:
    """Goes through the list in a machine that is thrown away.

    Args:
        provider: makes machines of the image.
        image: that is checked.
        apps: its applications.

    Yields:
        Each line as soon as it is known.

    Raises:
        ClusterLost: no machine can be made here.
        GuestLost: it was lost, also by what an application did.
    """
    yield _named(image, apps)
    opened = provider.open(SLOT, DesktopSpec(screen=SCREEN, image=image.name))
    try:
        yield from basics(opened.desktop)
        for each in apps:
            yield starts(opened.desktop, each.name, each)
    finally:
        opened.close()


def _named(image: MachineImage, apps: Sequence[Application]) -> CheckResult:
    """Whether the image itself says that it has what starts them: tasks go by that."""
    missing = sorted({each.command[0] for each in apps} - set(image.programs))
    return CheckResult(name="the image names its programs", fault=f"not named: {', '.join(missing)}" if missing else "")
