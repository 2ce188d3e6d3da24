"""Why agents fail: a closed set of labels, rules that suggest some, samples, and shares of labels.

Source: protocols reference, sections 6 and 8. docs/read-results.md has the labels as a table.
"""

import hashlib
import json
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple, TypeVar

from backend.domain.model.episode import EndedBy
from backend.domain.model.task import JSON, Frozen
from backend.domain.model.trajectory import ActionType
from backend.domain.statistics.intervals import Interval, wilson

OMNIBENCH, PROSOFTARENA, OSWORLD = "OmniBench", "ProSoftArena", "OSWorld"
T = TypeVar("T")


class FailureLabel(Frozen):
    """One reason.

    Attributes:
        key: stored name.
        title: displayed name.
        text: when it applies.
        papers: its names in papers; empty = our own.
        by_rule: whether a rule suggests it.
    """

    key: str
    title: str
    text: str
    papers: Mapping[str, str] = {}
    by_rule: bool = False


LABELS = (
    FailureLabel(
        key="instruction",
        title="Instruction misunderstood",
        text="did something else than what was asked, or left a part of it out",
        papers={OMNIBENCH: "instruction understanding", OSWORLD: "misread instruction"},
    ),
    FailureLabel(
        key="knowledge",
        title="Lack of knowledge",
        text="did not know the facts or the program that the task needs",
        papers={OMNIBENCH: "lack of knowledge"},
    ),
    FailureLabel(
        key="domain_knowledge",
        title="Domain knowledge gap",
        text="did not know the discipline: terms, methods, conventions",
        papers={PROSOFTARENA: "domain knowledge gap"},
    ),
    FailureLabel(
        key="tool_knowledge",
        title="Tool knowledge gap",
        text="did not know how the program does it: menus, dialogs, formats",
        papers={PROSOFTARENA: "tool knowledge gap"},
    ),
    FailureLabel(
        key="planning",
        title="Planning error",
        text="wrong order, a step left out, or no change of strategy after it had not worked",
        papers={PROSOFTARENA: "planning error"},
    ),
    FailureLabel(
        key="grounding",
        title="Grounding error",
        text="meant the right thing and acted on the wrong place or control",
        papers={OMNIBENCH: "grounding", PROSOFTARENA: "grounding error", OSWORLD: "click inaccuracy"},
        by_rule=True,
    ),
    FailureLabel(
        key="oversight",
        title="Visual oversight",
        text="did not see, or misread, what was on the screen",
        papers={OSWORLD: "visual oversight"},
    ),
    FailureLabel(
        key="environment",
        title="Environment",
        text="a dialog, an advertisement, a slow or broken program got in the way",
        papers={OMNIBENCH: "environment error", OSWORLD: "environmental noise"},
    ),
    FailureLabel(
        key="repeated",
        title="Repeated action",
        text="did the same again although the screen had not changed",
        papers={PROSOFTARENA: "repeated operation", OSWORLD: "repetitive clicks"},
        by_rule=True,
    ),
    FailureLabel(
        key="invalid",
        title="Invalid action",
        text="gave an action outside the action space",
        papers={PROSOFTARENA: "invalid action"},
        by_rule=True,
    ),
    FailureLabel(
        key="hallucinated",
        title="Hallucinatory success",
        text="said DONE with a score under 1",
        papers={OMNIBENCH: "hallucinatory success"},
        by_rule=True,
    ),
    FailureLabel(key="gave_up", title="Gave up", text="said FAIL to a task that can be done", by_rule=True),
    FailureLabel(
        key="not_refused", title="Not refused", text="did not say FAIL to a task that cannot be done", by_rule=True
    ),
    FailureLabel(key="verdict", title="Verdict in doubt", text="the agent seems to be right and the evaluation wrong"),
)
KEYS = frozenset(label.key for label in LABELS)


def label(key: str) -> FailureLabel:
    """The label with that key. Raises KeyError."""
    return {label.key: label for label in LABELS}[key]


@dataclass(frozen=True)
class StepFacts:
    """Facts of one step that rules use.

    Attributes:
        actions: stored actions; may be empty.
        screen: hash of the picture before them; None without one.
        invalid: why the reply was invalid, or empty.
        grounder_failed: the model that finds elements found none, of an agent that asks one.
    """

    index: int
    actions: Sequence[JSON]
    screen: str | None
    invalid: str = ""
    grounder_failed: bool = False


class Suggestion(NamedTuple):
    """A label suggested by a rule, with its step and reason."""

    label: str
    step: int | None
    reason: str


def suggestions(ended_by: str | None, *, feasible: bool, steps: Sequence[StepFacts]) -> list[Suggestion]:
    """Labels that the rules suggest for a failed episode, in the order of `LABELS`.

    Args:
        ended_by: how the episode ended.
        feasible: whether the task is feasible.
        steps: the steps in order, with or without the end state.
    """
    suggestions = [*_grounding(steps), *_repetitions(steps), *_invalid(steps)]
    if ended_by == EndedBy.DONE:
        suggestions.append(Suggestion("hallucinated", steps[-1].index if steps else None, "it said that it was done"))
    if ended_by == EndedBy.INFEASIBLE and feasible:
        suggestions.append(Suggestion("gave_up", None, "it said that the task cannot be done"))
    if ended_by != EndedBy.INFEASIBLE and not feasible:
        suggestions.append(Suggestion("not_refused", None, "the task cannot be done, and it did not say so"))
    return suggestions


def _grounding(steps: Sequence[StepFacts]) -> Iterator[Suggestion]:
    failed = [step.index for step in steps if step.grounder_failed]
    if failed:
        listed = ", ".join(map(str, failed[:10]))
        yield Suggestion("grounding", failed[0], f"the grounder found no usable place at step {listed}")


def _repetitions(steps: Sequence[StepFacts]) -> Iterator[Suggestion]:
    again = [
        now.index
        for before, now in pairwise(steps)
        if _acts(now) and now.screen is not None and now.screen == before.screen and _same(before.actions, now.actions)
    ]
    if again:
        listed = ", ".join(map(str, again[:10]))
        yield Suggestion("repeated", again[0], f"the same action on an unchanged screen at step {listed}")


def _acts(step: StepFacts) -> bool:
    """True for an action other than waiting: repeated waiting is not a repetition."""
    words = {ActionType.WAIT.value, ActionType.DONE.value, ActionType.FAIL.value}
    return any(isinstance(action, dict) and action.get("type") not in words for action in step.actions)


def _same(first: Sequence[JSON], second: Sequence[JSON]) -> bool:
    """Whether actions are equal, ignoring notes."""

    def bare(actions: Sequence[JSON]) -> list[str]:
        return [json.dumps({**action, "note": ""}, sort_keys=True) for action in actions if isinstance(action, dict)]

    return bare(first) == bare(second)


def _invalid(steps: Sequence[StepFacts]) -> Iterator[Suggestion]:
    wrong = [step for step in steps if step.invalid and not step.grounder_failed]
    if wrong:
        message = f"{len(wrong)} step{'' if len(wrong) == 1 else 's'} without an action that could be understood"
        yield Suggestion("invalid", wrong[0].index, message)


def draw_sample(ids: Iterable[T], number: int, seed: int) -> list[T]:
    """A seeded sample, in the order of drawing. An additional id changes at most one member."""

    def place(key: T) -> bytes:
        return hashlib.sha256(f"{seed}/{key}".encode()).digest()

    return sorted(ids, key=place)[:number]


@dataclass(frozen=True)
class LabelShare:
    """Share of failed episodes with a label."""

    label: str
    count: int
    n: int
    share: float | None
    interval: Interval | None


def shares(labelled: Sequence[Collection[str]]) -> list[LabelShare]:
    """The share of every label among failed episodes, with Wilson's interval.

    Args:
        labelled: labels of each reviewed episode, possibly none or several.
    """
    counts = [(label.key, sum(label.key in labels for labels in labelled)) for label in LABELS]
    n = len(labelled)
    return [LabelShare(key, count, n, count / n if n else None, wilson(count, n)) for key, count in counts]


def majority_labels(reviews: Sequence[Collection[str]]) -> frozenset[str]:
    """Labels of an episode by several people: those that at least half of them set."""
    return frozenset(key for key in KEYS if reviews and 2 * sum(key in labels for labels in reviews) >= len(reviews))
