"""Health check before each attempt: compares facts that the desktop reports with the limits.

The rules are in `backend/domain/machines/health.py`; this module gathers the facts. A desktop that fails ends the
attempt as `guest`, with the names of the failed checks, and is discarded.
"""

import logging
import time
from collections.abc import Callable, Iterable

from backend.config import Settings
from backend.domain.errors import GuestLost, GuestRefused
from backend.domain.machines.health import (
    PASSING,
    Ailment,
    DesktopHealth,
    HealthFinding,
    HealthLimits,
    HealthReply,
    findings,
    full_disks,
)
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame
from backend.domain.model.units import MIB
from backend.domain.ports.desktop import Desktop

logger = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 0.2
HINT = "docs/internals/health.md explains each check and what to do."


def health_limits(settings: Settings) -> HealthLimits:
    """Limits of this installation for every desktop."""
    return HealthLimits(
        clock_seconds=settings.health_clock_seconds,
        disk=settings.health_disk_mib * MIB,
        memory=settings.health_memory_mib * MIB,
        licence_days=settings.health_licence_days,
    )


def check_health(  # noqa: PLR0913 - what is asked, what it is held against, and the clock
    desktop: Desktop,
    screen: ScreenSize,
    frame: Frame,
    limits: HealthLimits,
    *,
    pause: Callable[[float], None],
    monotonic: Callable[[], float] = time.monotonic,
) -> None:
    """Returns if the desktop is healthy; transient findings (a black screen) may take up to the limits' patience.

    Args:
        desktop: newly opened; nobody has acted on it.
        screen: the run's screen.
        frame: its picture.
        limits: what it must meet.
        pause: waits for the given seconds, or raises if the attempt must stop.
        monotonic: clock for the patience.

    Raises:
        GuestLost: it is unhealthy, with the name of every failed check; or it does not respond.
    """
    deadline = monotonic() + limits.patience
    size = (frame.width, frame.height)
    while problems := findings(_ask_health(desktop, screen, size), limits):
        if monotonic() >= deadline or any(problem.ailment not in PASSING for problem in problems):
            raise _unwell(problems)
        pause(LOOK_AGAIN_SECONDS)


def check_room(desktop: Desktop) -> None:
    """Returns if programs of the desktop can still write: files on a full disk say nothing about the agent.

    Args:
        desktop: on which the agent has stopped.

    Raises:
        GuestLost: a disk is full, or the desktop does not respond.
    """
    try:
        disks = full_disks(desktop.disks())
    except GuestRefused as error:
        # A fact that is missing here shows when evidence is gathered, if it matters.
        logger.warning("free space of a desktop unknown at its end: %s", error.message)
        return
    if disks:
        raise GuestLost(
            f"the desktop has run out of disk space: {'; '.join(map(str, disks))}.", code="desktop_disk_full", hint=HINT
        )


def answers(desktop: Desktop) -> bool:
    """Whether its guest API responds."""
    try:
        desktop.probe()
    except (GuestLost, GuestRefused):
        return False
    return True


def _ask_health(desktop: Desktop, screen: ScreenSize, size: tuple[int, int]) -> HealthReply:
    sent_at = time.time()
    try:
        health: DesktopHealth = desktop.health()
    except GuestRefused as error:
        if error.kind == "not_found":
            raise _unwell(
                [
                    HealthFinding(
                        Ailment.GUEST_API, ("the guest server is too old: it has no /health; build the image again")
                    )
                ]
            ) from error
        raise GuestLost(
            f"the desktop does not report its health: {error.message}", code="health_unknown", hint=HINT
        ) from error
    return HealthReply(health, sent_at, time.time(), screen, size)


def _unwell(problems: Iterable[HealthFinding]) -> GuestLost:
    return GuestLost(f"the desktop is unhealthy: {'; '.join(map(str, problems))}.", code="desktop_unhealthy", hint=HINT)
