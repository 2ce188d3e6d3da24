"""Classifies the error of an attempt: who is responsible, and how it is recorded."""

import logging

from backend.domain.errors import (
    AttemptFailure,
    ClusterLost,
    DeskarenaError,
    EvaluatorFailed,
    GuestLost,
    GuestRefused,
    MachineLost,
    sentences,
)
from backend.domain.machines.desktop_end import LIMITS, OF_THE_HOST, Blame, DesktopEnd, EndCause, blame
from backend.domain.model.trajectory import Decision, Observation, StepRecord
from backend.domain.ports.cluster import RevocableDesktop
from backend.domain.ports.desktop import OpenDesktop

NOT_GATHERED = "evidence_not_gathered"
logger = logging.getLogger(__name__)


def desktop_end(error: Exception, opened: OpenDesktop | None) -> DesktopEnd | None:
    """The evidence of how the desktop ended, or of the limit that keeps it from answering.

    Args:
        error: what ended the attempt.
        opened: its desktop.

    Returns:
        None if the error says nothing about the desktop.
    """
    if opened is None or _revocation(opened, error):
        return None
    if isinstance(error, GuestLost | GuestRefused):
        end = opened.ending()
        full = getattr(error, "code", "") == "desktop_disk_full"
        return end.model_copy(update={"cause": EndCause.DISK_LIMIT}) if full and not end.text else end
    if isinstance(error, EvaluatorFailed) and error.code == NOT_GATHERED:
        end = opened.ending()
        return end if end.cause in LIMITS or not opened.alive() else None
    return None


def whose(end: DesktopEnd | None, *, acted: bool) -> Blame:
    """The responsible party; the machine if the desktop has nothing to do with it."""
    return Blame.MACHINE if end is None else blame(end, acted=acted)


def as_lost(cause: Exception, opened: OpenDesktop | None, end: DesktopEnd | None) -> MachineLost:
    """The error as an infrastructure failure with its class."""
    if opened is not None and (revocation := _revocation(opened, cause)):
        return ClusterLost(revocation, code="desktop_revoked")
    if isinstance(cause, GuestLost) and end is not None and end.cause in OF_THE_HOST:
        return ClusterLost(cause.message, code="desktop_host_failed", hint=cause.hint)
    if isinstance(cause, MachineLost):
        return cause
    if isinstance(cause, GuestRefused):
        return GuestLost(
            f"the desktop refused a required operation: {cause.message}", code="desktop_refused", hint=cause.hint
        )
    if isinstance(cause, DeskarenaError):
        return ClusterLost(cause.message, code="service_unavailable", hint=cause.hint)
    logger.error("an attempt failed unexpectedly", exc_info=cause)
    return ClusterLost(f"internal error of the worker: {type(cause).__name__}: {cause}", code="worker_broke")


def failure_of(lost: MachineLost, end: DesktopEnd | None = None) -> AttemptFailure:
    """The record of a loss, with the reason of the desktop's end."""
    message = f"{lost.message} (the desktop ended: {end.text})" if end is not None and end.text else lost.message
    return AttemptFailure(lost.failure_class, lost.code, sentences(message, lost.hint))


def last_picture(opened: OpenDesktop, index: int) -> StepRecord | None:
    """The machine's own picture after its guest was lost, as the final step; None if there is none."""
    frame = opened.picture()
    if frame is None:
        return None
    note = "the machine's own picture, after the guest was lost"
    observation = Observation(index=index, frame=frame)
    return StepRecord(
        index=index, observation=observation, decision=Decision(), results=({"final": True, "note": note},)
    )


def _revocation(opened: OpenDesktop, error: Exception) -> str:
    """Why a cluster took the lost machine away; empty if it did not."""
    return opened.revocation_reason() if isinstance(error, GuestLost) and isinstance(opened, RevocableDesktop) else ""
