"""Check list of a Linux image: starts every application in a machine created like for an attempt."""

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
        name: display name.
        seconds: time limit for its window: the first one takes over a minute on a busy host that emulates.
    """

    name: str = Field(min_length=1)
    seconds: float = Field(default=300, gt=0, le=600)


class _Lists(Frozen):
    """Content of the file: `full` includes the list of `minimal`."""

    minimal: tuple[Application, ...] = Field(min_length=1)
    full: tuple[Application, ...] = Field(min_length=1)


def applications(linux: Path, variant: Variant) -> tuple[Application, ...]:
    """Applications of a variant.

    Args:
        linux: folder of the image's lists, see `BuildSources`.
        variant: of the image.

    Raises:
        OSError: the list cannot be read.
        ValueError: The list is invalid.
    """
    lists = _Lists.model_validate(yaml.safe_load((linux / FILE).read_text()))
    return lists.minimal + (lists.full if variant == "full" else ())


def check_list(provider: Provider, image: MachineImage, apps: Sequence[Application]) -> Iterator[CheckResult]:
    """Runs the checks in a temporary machine.

    Args:
        provider: creates machines of the image.
        image: image to check.
        apps: its applications.

    Yields:
        Yields each result as soon as it is known.

    Raises:
        ClusterLost: No machine can be created here.
        GuestLost: The machine was lost, possibly because of an application.
    """
    yield _check_programs(image, apps)
    opened = provider.open(SLOT, DesktopSpec(screen=SCREEN, image=image.name))
    try:
        yield from basics(opened.desktop)
        for app in apps:
            yield starts(opened.desktop, app.name, app)
    finally:
        opened.close()


def _check_programs(image: MachineImage, apps: Sequence[Application]) -> CheckResult:
    """Whether the image's manifest lists the programs: tasks rely on it."""
    missing = sorted({app.command[0] for app in apps} - set(image.programs))
    return CheckResult(
        name="the manifest lists the programs", fault=f"not listed: {', '.join(missing)}" if missing else ""
    )
