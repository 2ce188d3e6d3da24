"""Responsibility for a desktop that ended or stopped answering: the agent, the machine, or unknown.

Without this rule an agent could turn a 0 into a lost episode, and get another attempt, by breaking its own desktop.
"""

from enum import StrEnum

from pydantic import Field, field_validator

from backend.domain.model.task import Frozen

MAX_TEXT = 500
"""Characters of a desktop's own words that are stored: programs inside may have written them."""


class EndCause(StrEnum):
    """Cause of a desktop's end, or of its failure to answer. Supervisors send these values."""

    MEMORY_LIMIT = "memory_limit"
    """Its programs reached its own memory limit."""
    PROCESS_LIMIT = "process_limit"
    DISK_LIMIT = "disk_limit"
    FILE_LIMIT = "file_limit"
    """A program of its session has as many files open as it may: Wine's server holds those of all Windows programs."""
    PROCESSOR_LIMIT = "processor_limit"
    """So many of its programs compute at once that its session gets no processor."""
    SESSION_ENDED = "session_ended"
    """A program of its session ended, by itself or by a signal that nobody outside sends."""
    SESSION_SUSPENDED = "session_suspended"
    """Threads of its session are suspended by a program inside."""
    SHUT_DOWN = "shut_down"
    """Its system was shut down or restarted."""
    SYSTEM_CRASHED = "system_crashed"
    SESSION_KILLED = "session_killed"
    """A program of its session got SIGKILL, which programs inside cannot send to it."""
    SUPERVISOR_ENDED = "supervisor_ended"
    HOST_MEMORY = "host_memory"
    HOST_DISK = "host_disk"
    EMULATOR_ENDED = "emulator_ended"
    REMOVED = "removed"
    """We ended it."""
    UNKNOWN = "unknown"


FROM_INSIDE = frozenset(
    {
        EndCause.MEMORY_LIMIT,
        EndCause.PROCESS_LIMIT,
        EndCause.DISK_LIMIT,
        EndCause.FILE_LIMIT,
        EndCause.PROCESSOR_LIMIT,
        EndCause.SESSION_ENDED,
        EndCause.SESSION_SUSPENDED,
        EndCause.SHUT_DOWN,
        EndCause.SYSTEM_CRASHED,
    }
)
LIMITS = frozenset(
    {
        EndCause.MEMORY_LIMIT,
        EndCause.PROCESS_LIMIT,
        EndCause.DISK_LIMIT,
        EndCause.FILE_LIMIT,
        EndCause.PROCESSOR_LIMIT,
    }
)
"""Causes that a desktop may survive."""
OF_THE_HOST = frozenset({EndCause.SUPERVISOR_ENDED, EndCause.HOST_MEMORY, EndCause.HOST_DISK})
"""Failures of what the desktop runs on: failure class `cluster`, not `guest`."""


class Blame(StrEnum):
    """The party responsible for a loss."""

    AGENT = "agent"
    MACHINE = "machine"
    UNEXPLAINED = "unexplained"


class DesktopEnd(Frozen):
    """Why a desktop ended or does not answer.

    Attributes:
        text: what its supervisor says, shortened to `MAX_TEXT` characters, without control characters.
        facts: numbers that prove it, for example `exit_status` or how often a limit was reached.
    """

    cause: EndCause = EndCause.UNKNOWN
    text: str = ""
    facts: dict[str, int] = Field(default={})

    @field_validator("text")
    @classmethod
    def _limit(cls, text: str) -> str:
        plain = " ".join("".join(char if char.isprintable() else " " for char in text[: 4 * MAX_TEXT]).split())
        return plain if len(plain) <= MAX_TEXT else f"{plain[: MAX_TEXT - 1]}…"


def cause_of(value: object) -> EndCause:
    """The cause that a supervisor sent; UNKNOWN for a value that we do not know."""
    return EndCause(str(value)) if value in set(EndCause) else EndCause.UNKNOWN


def blame(end: DesktopEnd, *, acted: bool) -> Blame:
    """The party responsible for the end of a desktop.

    Args:
        end: the evidence.
        acted: an action of the agent had been sent to the desktop. Before that nothing is the agent's doing.
    """
    if not acted:
        return Blame.MACHINE
    if end.cause in FROM_INSIDE:
        return Blame.AGENT
    return Blame.UNEXPLAINED if end.cause is EndCause.UNKNOWN else Blame.MACHINE
