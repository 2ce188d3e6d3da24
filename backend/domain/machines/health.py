"""Rules of the health check: a desktop's facts against an attempt's requirements. Pure; each failure has a name.

A run on a desktop with a full disk, a lock screen or a wrong clock would measure those. So the facts are checked before
every attempt, and a desktop that fails is discarded before the agent sees it.
"""

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from enum import StrEnum

from pydantic import ConfigDict, Field

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen
from backend.domain.model.units import MIB

GUEST_API = (1, 1)
"""Version of the guest API that the service speaks: guests need the same major and at least this minor version."""
FULL = MIB
"""Bytes: a disk with less free is full."""
_NAMED = 5


class _GuestFacts(Frozen):
    """Facts reported by a guest; unknown facts of newer guests are ignored."""

    model_config = ConfigDict(extra="ignore")


class DiskRoom(_GuestFacts):
    """Free space where programs of the desktop write; bytes."""

    path: str = Field(max_length=4096)
    free: int = Field(ge=0)
    size: int = Field(ge=0)


class DiskSpace(_GuestFacts):
    """The facts of `GET /health?only=disks`; those of a whole `/health` do, too."""

    disks: tuple[DiskRoom, ...] = Field(min_length=1, max_length=100)


class RunningProgram(_GuestFacts):
    """A program that was started after the desktop became ready."""

    pid: int
    name: str = Field(max_length=1000)


class ScreenHealth(_GuestFacts):
    """The screen as reported by the guest.

    Attributes:
        scale: display scaling; 1.0 = none.
        black: nearly all pixels are black.
        locked: what covers the screen (such as a lock screen); empty if nothing does.
    """

    width: int
    height: int
    scale: float = Field(allow_inf_nan=False)
    black: bool
    locked: str = Field(max_length=1000)

    @property
    def size(self) -> tuple[int, int]:
        """(width, height) in pixels."""
        return self.width, self.height


class DesktopHealth(DiskSpace):
    """The facts of a desktop's `GET /health`; docs/internals/guest-api.md explains each.

    Attributes:
        clock: the guest's time, seconds since 1970 (UTC).
        memory_free: bytes; None if unknown.
        licence_days: until the system's licence ends; None = it does not.
    """

    api: str = Field(max_length=100)
    platform: str = Field(max_length=100)
    clock: float = Field(allow_inf_nan=False)
    screen: ScreenHealth
    memory_free: int | None = Field(ge=0)
    pending: tuple[str, ...] = Field(max_length=100)
    licence_days: float | None = Field(allow_inf_nan=False)
    processes: tuple[RunningProgram, ...] = Field(max_length=100)


class Ailment(StrEnum):
    """Health problems of a desktop. A closed set; docs/internals/health.md explains each value and the remedy."""

    GUEST_API = "guest_api"
    CLOCK = "clock"
    DISK = "disk"
    MEMORY = "memory"
    RESOLUTION = "resolution"
    SCALE = "scale"
    BLACK_SCREEN = "black_screen"
    LOCKED_SCREEN = "locked_screen"
    PENDING = "pending"
    LICENCE = "licence"
    PROCESSES = "processes"


PASSING = frozenset({Ailment.BLACK_SCREEN, Ailment.LOCKED_SCREEN, Ailment.MEMORY, Ailment.PENDING, Ailment.PROCESSES})
"""Findings that may disappear within seconds of a machine's start, so that they are checked again.

Systems and libraries start short commands of their own (Python's `platform` runs `cmd.exe /c ver` on Windows): a
program of an earlier task is one that stays.
"""


@dataclass(frozen=True)
class HealthFinding:
    """One finding, with the actual and the expected value."""

    ailment: Ailment
    words: str

    def __str__(self) -> str:
        return f"{self.ailment}: {self.words}"


class HealthLimits(Frozen):
    """Requirements of an attempt.

    Attributes:
        clock_seconds: maximum difference between the guest's clock and ours.
        disk, memory: minimum free bytes, on each disk.
        licence_days: minimum remaining days of the system's licence.
        patience: seconds within which temporary findings must disappear.
    """

    clock_seconds: float = 2.0
    disk: int = 100 * MIB
    memory: int = 100 * MIB
    licence_days: float = 1.0
    patience: float = 10.0


DEFAULT_LIMITS = HealthLimits()


@dataclass(frozen=True)
class HealthReply:
    """One health request and its answer.

    Attributes:
        health: the answer.
        sent_at, answered_at: seconds since 1970 by our clock; the guest read its clock in between.
        screen: the screen size that the run requires.
        picture_size: (width, height) of the picture that the desktop sent.
    """

    health: DesktopHealth
    sent_at: float
    answered_at: float
    screen: ScreenSize
    picture_size: tuple[int, int]


def findings(probe: HealthReply, limits: HealthLimits) -> tuple[HealthFinding, ...]:
    """All findings, in the order of Ailment; empty for a desktop that is fit for an attempt."""
    return tuple(
        HealthFinding(ailment, words)
        for ailment in Ailment
        for words in _CHECKS[ailment](probe, limits)
    )  # fmt: skip


def full_disks(disks: Iterable[DiskRoom]) -> tuple[HealthFinding, ...]:
    """The disks on which programs can no longer write: FULL bytes or less are free."""
    return tuple(
        HealthFinding(Ailment.DISK, f"{_mib(disk.free)} free of {_mib(disk.size)} in {disk.path[:100]}")
        for disk in disks
        if disk.free < FULL
    )


def _guest_api(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    version = ".".join(map(str, GUEST_API))
    major, _dot, minor = probe.health.api.partition(".")
    fits = major.isdecimal() and minor.isdecimal() and int(major) == GUEST_API[0] and int(minor) >= GUEST_API[1]
    if not fits:
        yield f"the guest speaks {probe.health.api[:20]!r}, this worker {version}"


def _clock(probe: HealthReply, limits: HealthLimits) -> Iterator[str]:
    """The guest's clock was read between request and answer: only a time outside that range is certainly wrong."""
    ahead, behind = probe.health.clock - probe.answered_at, probe.sent_at - probe.health.clock
    off = max(ahead, behind)
    if off > limits.clock_seconds:
        yield f"{off:.1f} s {'ahead' if ahead > behind else 'behind'}, at most {limits.clock_seconds:g} s allowed"


def _disk(probe: HealthReply, limits: HealthLimits) -> Iterator[str]:
    for disk in probe.health.disks:
        if disk.free < limits.disk:
            yield f"{_mib(disk.free)} free of {_mib(disk.size)} in {disk.path[:100]}, {_mib(limits.disk)} needed"


def _memory(probe: HealthReply, limits: HealthLimits) -> Iterator[str]:
    free = probe.health.memory_free
    if free is not None and free < limits.memory:
        yield f"{_mib(free)} free, {_mib(limits.memory)} needed"


def _resolution(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    expected = (probe.screen.width, probe.screen.height)
    for whose, size in (("the screen is", probe.health.screen.size), ("its picture is", probe.picture_size)):
        if size != expected:
            yield f"{whose} {size[0]}x{size[1]} instead of {expected[0]}x{expected[1]}"


def _scale(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    if (scale := probe.health.screen.scale) != 1.0:
        yield f"the display is scaled by {scale:g}: coordinates would not be pixels"


def _black_screen(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    if probe.health.screen.black:
        yield "the screen shows nothing"


def _locked_screen(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    if covered := probe.health.screen.locked:
        yield f"the screen is covered: {covered[:100]}"


def _pending(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    yield from (words[:200] for words in probe.health.pending[:_NAMED])


def _licence(probe: HealthReply, limits: HealthLimits) -> Iterator[str]:
    days = probe.health.licence_days
    if days is not None and days < limits.licence_days:
        yield f"the system's licence ends in {days:.1f} days" if days > 0 else "the system's licence has ended"


def _processes(probe: HealthReply, _: HealthLimits) -> Iterator[str]:
    programs = probe.health.processes
    if programs:
        more = f" and {len(programs) - _NAMED} more" if len(programs) > _NAMED else ""
        yield f"programs of an earlier task run: {_names(program.name for program in programs[:_NAMED])}{more}"


def _names(names: Iterable[str]) -> str:
    return ", ".join(name[:50] for name in names)


def _mib(size: int) -> str:
    return f"{size / MIB:.0f} MiB"


_CHECKS: dict[Ailment, Callable[[HealthReply, HealthLimits], Iterator[str]]] = {
    Ailment.GUEST_API: _guest_api,
    Ailment.CLOCK: _clock,
    Ailment.DISK: _disk,
    Ailment.MEMORY: _memory,
    Ailment.RESOLUTION: _resolution,
    Ailment.SCALE: _scale,
    Ailment.BLACK_SCREEN: _black_screen,
    Ailment.LOCKED_SCREEN: _locked_screen,
    Ailment.PENDING: _pending,
    Ailment.LICENCE: _licence,
    Ailment.PROCESSES: _processes,
}
