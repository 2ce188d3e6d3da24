"""Checks on rows, pure: failures name what hit their pod, closed nodes start nothing, only users cancel."""

from collections.abc import Collection, Sequence
from datetime import UTC, datetime, timedelta

from tools.chaos.facts import AttemptFact, Facts
from tools.chaos.faults.base import ClosedNode, PodMark
from tools.chaos.invariants import Violation

SENTENCE = "an attempt that was lost with its pod is the cluster's, and says what became of the pod"
NOTICED = 6.0
"""Seconds until a node that was cordoned or tainted takes nothing new any more, on a busy machine."""
CLOSED = f"nothing begins on a node {NOTICED:g} s after it was cordoned or tainted"
UNASKED = "an episode is scored, or belongs to a run that a user cancelled"
LEEWAY = timedelta(seconds=1)
"""Seconds between reading the pods and the hit."""


def named(facts: Facts, marks: Sequence[PodMark]) -> list[Violation]:
    """Attempts lost with a hit pod that give another reason.

    Args:
        facts: at the end.
        marks: excludes marks that coincide with another fault, which may have been first.
    """
    return [
        Violation(
            "named",
            SENTENCE,
            f"attempt {attempt.id} in pod {mark.pod}: {attempt.failure_class} {attempt.failure_message}",
        )
        for mark in marks
        if mark.alone
        for attempt in facts.attempts
        if _was_hit(attempt, mark) and attempt.failure_class and not _says(attempt, mark)
    ]


def _was_hit(attempt: AttemptFact, mark: PodMark) -> bool:
    moment = datetime.fromtimestamp(mark.at, UTC)
    return (
        attempt.pod == mark.pod
        and attempt.started_at < moment + LEEWAY
        and (attempt.ended_at is None or attempt.ended_at >= moment)
    )


def _says(attempt: AttemptFact, mark: PodMark) -> bool:
    return attempt.failure_class == "cluster" and any(words in attempt.failure_message for words in mark.words)


def attempts_on_closed_nodes(facts: Facts, closed: Sequence[ClosedNode]) -> list[Violation]:
    """Attempts that began on a node that was closed.

    Args:
        facts: at the end.
        closed: excludes faults injected together with another one, which may not have been noticed.
    """
    return [
        Violation(
            "closed",
            CLOSED,
            f"attempt {attempt.id} on {attempt.node} at {attempt.started_at}, closed at {shut.since:.0f}",
        )
        for shut in closed
        if shut.alone
        for attempt in facts.attempts
        if attempt.node == shut.node and shut.since + NOTICED < attempt.started_at.timestamp() < shut.until
    ]


def unasked(facts: Facts, cancelled: Collection[str]) -> list[Violation]:
    """Episodes that ended without a score and without a user's request; lost ones have their own invariant.

    Args:
        facts: at the end.
        cancelled: runs that a user cancelled.
    """
    return [
        Violation(
            "none given up",
            UNASKED,
            f"episode {episode.id} ({episode.task}) of run {episode.run_id} is {episode.state}",
        )
        for episode in facts.episodes
        if episode.state == "handed_in" or (episode.state == "cancelled" and str(episode.run_id) not in cancelled)
    ]
