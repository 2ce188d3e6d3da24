"""The health gate: before each attempt, whatever made the desktop, its own facts are compared with what it must be.

The rules are `backend/domain/machines/health.py`'s; here is the asking. A desktop that fails ends the attempt as
`guest`, with the names of what was wrong, and is thrown away with it.
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
from backend.domain.ports.desktop import Desktop

logger = logging.getLogger(__name__)

LOOK_AGAIN_SECONDS = 0.2
HINT = "docs/internals/health.md says what each name means and what to do."
_MIB = 2**20


def health_limits(settings: Settings) -> HealthLimits:
    """What this installation asks of every desktop."""
    return HealthLimits(
        clock_seconds=settings.health_clock_seconds,
        disk=settings.health_disk_mib * _MIB,
        memory=settings.health_memory_mib * _MIB,
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
    """Returns when the desktop is well; what may pass (a screen still black) gets the limits' patience to do so.

    Args:
        desktop: just opened; nobody has acted on it.
        screen: the screen that the run asked for.
        frame: its picture.
        limits: what it must be.
        pause: waits so many seconds, or raises why the attempt must stop.
        monotonic: seconds, for the patience.

    Raises:
        GuestLost: it is not well, with the name of every failure; or it does not answer.
    """
    deadline = monotonic() + limits.patience
    size = (frame.width, frame.height)
    while problems := findings(_ask_health(desktop, screen, size), limits):
        if monotonic() >= deadline or any(each.ailment not in PASSING for each in problems):
            raise _unwell(problems)
        pause(LOOK_AGAIN_SECONDS)


def check_room(desktop: Desktop) -> None:
    """Returns if programs of the desktop can still write: what lies on a full disk says nothing about the agent.

    Args:
        desktop: on which the agent has ended.

    Raises:
        GuestLost: a disk is full, or the desktop does not answer.
    """
    try:
        disks = full_disks(desktop.health())
    except GuestRefused as error:
        # What could not be asked here shows when evidence is gathered, if it matters.
        logger.warning("a desktop did not say at its end how much room it has: %s", error.message)
        return
    if disks:
        raise GuestLost(
            f"the desktop has run out of room: {'; '.join(map(str, disks))}.", code="desktop_disk_full", hint=HINT
        )


def _ask_health(desktop: Desktop, screen: ScreenSize, size: tuple[int, int]) -> HealthReply:
    sent_at = time.time()
    try:
        health: DesktopHealth = desktop.health()
    except GuestRefused as error:
        if error.kind == "not_found":
            raise _unwell(
                [HealthFinding(Ailment.GUEST_API, "the guest server is older and knows no /health")]
            ) from error
        raise GuestLost(
            f"the desktop cannot say how it is: {error.message}", code="health_unknown", hint=HINT
        ) from error
    return HealthReply(health, sent_at, time.time(), screen, size)


def _unwell(problems: Iterable[HealthFinding]) -> GuestLost:
    return GuestLost(f"the desktop is not well: {'; '.join(map(str, problems))}.", code="desktop_unhealthy", hint=HINT)
