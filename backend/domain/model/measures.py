"""Descriptions of measures: titles on leaderboards, definitions, and the tasks that have them.

A protocol may define any measure; one without a description is shown by its name.
"""

import re
from collections.abc import Collection, Mapping, Sequence

from backend.domain import registry
from backend.domain.errors import UnknownPlugin
from backend.domain.model.score import SCORE
from backend.domain.model.task import Frozen

PARTS = "parts"
"""Parts reached / parts listed, over the parts of all tasks; added by roll-ups to the protocols' measures."""
PHASE = re.compile(r"phase:([1-9][0-9]?)")
MOST_PHASES = 10
"""Phases that roll-ups have a measure for, by position; the protocol's `phase:NAME` is specific to a task."""


class MeasureInfo(Frozen):
    """Description of a measure.

    Attributes:
        title: title of its column.
        text: its definition.
        levels: levels of tasks with this measure; empty = all tasks of its protocol.
    """

    title: str
    text: str
    levels: tuple[str, ...] = ()


KNOWN: Mapping[str, MeasureInfo] = {
    SCORE: MeasureInfo(title="Mean score", text="mean of the scores of all counted episodes"),
    "S_int": MeasureInfo(
        title="S_int",
        text="checkpoints reached / checkpoints listed of a task, averaged over the tasks of L1 to L3",
        levels=("L1", "L2", "L3"),
    ),
    "S_final": MeasureInfo(
        title="S_final",
        text="share of the tasks of L1 to L4 whose end state the check of the final state (the judge, or FAIL at L4) "
        "finds right",
    ),
    "S_assert": MeasureInfo(
        title="S_assert", text="share of a task's executed assertions that held, averaged over the tasks that have some"
    ),
    "S_agree": MeasureInfo(
        title="S_agree",
        text="share of the tasks with assertions about files in which these say the same of the end state as the judge",
    ),
    "CR": MeasureInfo(
        title="CR",
        text="coverage rate: depths of the completed subtasks / depths of all subtasks of a task, averaged over tasks",
    ),
    "LC": MeasureInfo(
        title="LC",
        text="logical consistency: adjacent pairs of one application in the order of completion / the most that any "
        "order of the whole graph has; undefined where that is 0",
    ),
    PARTS: MeasureInfo(
        title="Parts, pooled",
        text="checkpoints, subtasks or phases reached / listed, over those of all tasks together",
    ),
}
ORDER = ("S_int", PARTS, "S_final", "S_assert", "S_agree", "CR", "LC")


def primary(protocols: Collection[str]) -> str:
    """The measure by which agents are ranked over tasks of these scoring protocols.

    It is the protocol's own if all tasks have the same one, else the score: measures of different protocols cannot be
    averaged. A protocol that is not installed (any more) has no measure of its own.
    """
    if len(set(protocols)) != 1:
        return SCORE
    (protocol,) = set(protocols)
    try:
        name: str = registry.lookup(registry.PluginKind.PROTOCOL, protocol).primary if protocol else SCORE
    except UnknownPlugin:
        return SCORE
    return name


def info(name: str) -> MeasureInfo:
    """The description of a measure."""
    phase = PHASE.fullmatch(name)
    if phase is not None:
        return MeasureInfo(title=f"Phase {phase[1]}", text=f"mean value of phase {phase[1]} of the tasks that have one")
    return KNOWN.get(name) or MeasureInfo(title=name, text=f"{name}, as the task's protocol gives it")


def in_order(names: Sequence[str]) -> list[str]:
    """Measures in the order of columns: known ones first, then phases by position, then the others by name."""

    def place(name: str) -> tuple[int, int, str]:
        phase = PHASE.fullmatch(name)
        if name in ORDER:
            return 0, ORDER.index(name), ""
        return (1, int(phase[1]), "") if phase is not None else (2, 0, name)

    return sorted(set(names), key=place)
