"""How an episode's outcome looks on pages: twelve kinds, each with one word, shape and colour."""

from collections.abc import Mapping
from dataclasses import dataclass
from enum import StrEnum

from backend.domain.model.episode import EndedBy, EpisodeState
from backend.domain.model.score import is_solved


class OutcomeStyle(StrEnum):
    """The kinds, in the order of bars and legends."""

    PASS = "pass"  # noqa: S105 - an outcome, no password
    PARTIAL = "partial"
    FAIL = "fail"
    AGENT = "agent"
    HELPED = "helped"
    QUARANTINED = "quarantined"
    HANDEDIN = "handedin"
    LOST = "lost"
    RUNNING = "running"
    WAITING = "waiting"
    CANCELLED = "cancelled"
    NOTRUNNABLE = "notrunnable"


LABELS: Mapping[OutcomeStyle, str] = {
    OutcomeStyle.PASS: "solved",
    OutcomeStyle.PARTIAL: "partially solved",
    OutcomeStyle.FAIL: "not solved",
    OutcomeStyle.AGENT: "stopped (budget or agent error)",
    OutcomeStyle.HELPED: "human-assisted (not counted)",
    OutcomeStyle.QUARANTINED: "in quarantine (not counted)",
    OutcomeStyle.HANDEDIN: "submitted for comparison",
    OutcomeStyle.LOST: "lost",
    OutcomeStyle.RUNNING: "running",
    OutcomeStyle.WAITING: "waiting",
    OutcomeStyle.CANCELLED: "cancelled",
    OutcomeStyle.NOTRUNNABLE: "not runnable here",
}
ENDED_LABELS: Mapping[str, str] = {
    EndedBy.DONE: "agent answered DONE",
    EndedBy.INFEASIBLE: "agent answered FAIL",
    EndedBy.STEPS: "out of steps",
    EndedBy.TIME: "out of time",
    EndedBy.TOKENS: "out of tokens",
    EndedBy.MONEY: "out of money",
    EndedBy.INVALID: "too many invalid actions",
    EndedBy.AGENT_ERROR: "agent error",
    EndedBy.STALLED: "no progress",
    EndedBy.SAFETY_CHECK: "stopped at a safety check",
}
STOPPED = frozenset(ENDED_LABELS) - {EndedBy.DONE, EndedBy.INFEASIBLE}
"""Endings that are neither the agent's decision nor an infrastructure failure."""


@dataclass(frozen=True)
class StateStyle:
    """A state's style and text."""

    style: OutcomeStyle
    label: str


UNRATED = StateStyle(OutcomeStyle.WAITING, "waiting for your rating")
"""A person's task that has ended and is not rated: whether it was solved is not known yet."""


def style_of(state: str, score: float | None, ended_by: str | None, *, human_assisted: bool = False) -> OutcomeStyle:
    """The style of an episode."""
    plain = {
        EpisodeState.HANDED_IN: OutcomeStyle.HANDEDIN,
        EpisodeState.LOST: OutcomeStyle.LOST,
        EpisodeState.RUNNING: OutcomeStyle.RUNNING,
        EpisodeState.WAITING: OutcomeStyle.WAITING,
        EpisodeState.CANCELLED: OutcomeStyle.CANCELLED,
        EpisodeState.NOT_RUNNABLE: OutcomeStyle.NOTRUNNABLE,
    }
    kind = EpisodeState(state)
    if kind in plain:
        return plain[kind]
    if human_assisted:
        return OutcomeStyle.HELPED
    if score is not None and is_solved(score):
        return OutcomeStyle.PASS
    if score:
        return OutcomeStyle.PARTIAL
    return OutcomeStyle.AGENT if ended_by in STOPPED else OutcomeStyle.FAIL


def state_style(
    state: str,
    score: float | None,
    ended_by: str | None,
    failure_class: str | None = None,
    *,
    human_assisted: bool = False,
) -> StateStyle:
    """Style and text of one episode: `out of steps`, `partially solved, 0.50`, `lost (guest)`."""
    style = style_of(state, score, ended_by, human_assisted=human_assisted)
    if style is OutcomeStyle.AGENT:
        return StateStyle(style, ENDED_LABELS[str(ended_by)])
    if style is OutcomeStyle.PARTIAL:
        return StateStyle(style, f"partially solved, {score:.2f}")
    if style is OutcomeStyle.LOST and failure_class:
        return StateStyle(style, f"lost ({failure_class.replace('_', ' ')})")
    return StateStyle(style, LABELS[style])


@dataclass(frozen=True)
class OutcomeCounts:
    """Number of episodes by style: the data of a progress bar and its legend."""

    counts: Mapping[OutcomeStyle, int]

    @property
    def total(self) -> int:
        return sum(self.counts.values())

    @property
    def ended(self) -> int:
        """Number of ended episodes."""
        return self.total - self.counts.get(OutcomeStyle.RUNNING, 0) - self.counts.get(OutcomeStyle.WAITING, 0)

    @property
    def parts(self) -> list[tuple[OutcomeStyle, str, int]]:
        """(style, label, count) of the styles that occur, in order."""
        return [(style, LABELS[style], self.counts[style]) for style in OutcomeStyle if self.counts.get(style)]

    def text(self) -> str:
        """The bar as a sentence, for screen readers."""
        return ", ".join(f"{count} {words}" for _, words, count in self.parts) or "no episodes"
