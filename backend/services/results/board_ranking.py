"""Selects the ranked rows of a leaderboard: equal conditions, all its tasks, at most 5 % lost."""

from collections.abc import Sequence
from dataclasses import dataclass, replace

from backend.domain.errors import NotFound
from backend.domain.statistics.ranks import rank, standings
from backend.services.results.board_rows import BoardRow, NotRanked
from backend.services.results.conditions import STATED, RunConditions, unknown_words

MOST_LOST = 0.05
REFERENCES = {"floor": "baseline", "privileged": "sees the task", "human": "person"}
OUTSIDE_ORIGIN = NotRanked("outside_origin", "imported results, not measured here")


@dataclass(frozen=True)
class OutsideRules:
    """Which imported results are ranked.

    Attributes:
        imported: those that are alike in all that is known of them.
        unknown: of them, also those that do not state their step budget or screen.
    """

    imported: bool = False
    unknown: bool = False

    def reasons(self, row: BoardRow) -> list[NotRanked]:
        """Why an imported row is not ranked, besides what every row needs."""
        if not row.imported:
            return []
        reasons = [] if self.imported else [OUTSIDE_ORIGIN]
        lacking = tuple(name for name in row.conditions.unknown if name in STATED)
        if lacking and not self.unknown:
            reasons.append(NotRanked("unknown_conditions", unknown_words(lacking)))
        return reasons


NONE_IMPORTED = OutsideRules()


@dataclass(frozen=True)
class BoardTasks:
    """Tasks that a ranked row has to cover.

    Attributes:
        number: how many.
        whole: the task set's without quarantined ones. More than `number` if no run covers them all: then the board's
            tasks are the largest set that one complete run covers.
        key: hash of their ids; empty if they are the whole set.
    """

    number: int
    whole: int
    key: str = ""

    @property
    def not_runnable(self) -> int:
        return self.whole - self.number

    def lack_of(self, row: BoardRow) -> str:
        """Coverage that a row lacks of these tasks, as text; empty if it covers exactly them."""
        if row.passes is None or (row.attempted_tasks == self.number and self.key in {"", row.passes.tasks_key}):
            return ""
        if row.attempted_tasks < self.number:
            helped = row.summary.counts.human_assisted
            by_people = f" ({helped:,} with a person's help)" if helped else ""
            return f"{row.attempted_tasks:,} of {self.number:,} tasks{by_people}"
        return f"{row.attempted_tasks:,} tasks, this board has {self.number:,} others"


@dataclass(frozen=True)
class ConditionsChoice:
    """Conditions that a board can be shown for. `rows`: agents under them; `ranked` of these are ranked."""

    conditions: RunConditions
    rows: int
    ranked: int


def board_tasks(rows: Sequence[BoardRow], task_count: int) -> BoardTasks:
    """The board's tasks, from rows under its conditions; imported ones decide only where none was measured.

    References decide nothing: a floor that was run where more programs are would make every agent's row partial.
    """
    agents = [row for row in rows if not row.reference]
    rows = [row for row in agents if not row.imported] or agents
    if any(row.attempted_tasks == task_count for row in rows):
        return BoardTasks(task_count, task_count)
    complete = [row for row in rows if _is_complete(row, task_count)]
    largest = max(complete, key=lambda row: row.attempted_tasks, default=None)
    if largest is None or largest.passes is None:
        return BoardTasks(task_count, task_count)
    return BoardTasks(largest.attempted_tasks, task_count, largest.passes.tasks_key)


def _is_complete(row: BoardRow, task_count: int) -> bool:
    """Whether it has attempted all that could run where it was made."""
    not_runnable = row.passes.not_runnable_tasks if row.passes else 0
    return 0 < row.attempted_tasks == task_count - not_runnable


def choices(
    rows: Sequence[BoardRow], task_count: int, measure: str, outside: OutsideRules = NONE_IMPORTED
) -> list[ConditionsChoice]:
    """All conditions: those of measured rows first, of these those with most ranked rows, most agents, the newest.

    Args:
        rows: of the board.
        task_count: number of tasks.
        measure: the primary one.
        outside: which imported results are ranked.
    """
    groups: dict[str, list[BoardRow]] = {}
    for row in rows:
        groups.setdefault(row.conditions.key, []).append(row)

    def number_ranked(group: Sequence[BoardRow]) -> int:
        tasks = board_tasks(group, task_count)
        return sum(not reasons_of(row, row.conditions, tasks, measure, outside) for row in group)

    def order(group: Sequence[BoardRow]) -> tuple[bool, int, int, str]:
        measured = any(not row.imported for row in group)
        return measured, number_ranked(group), _number_of_agents(group), max(row.run.id.hex for row in group)

    return [
        ConditionsChoice(group[0].conditions, _number_of_agents(group), number_ranked(group))
        for group in sorted(groups.values(), key=order, reverse=True)
    ]


def _number_of_agents(rows: Sequence[BoardRow]) -> int:
    return sum(not row.reference for row in rows)


def chosen_conditions(choices: Sequence[ConditionsChoice], key: str | None) -> RunConditions | None:
    """The conditions of this key, by default the first; None on an empty board. Raises NotFound."""
    if key is None:
        return choices[0].conditions if choices else None
    for choice in choices:
        if choice.conditions.key == key:
            return choice.conditions
    raise NotFound(
        f"no run of this board has the conditions {key!r}",
        code="conditions_not_found",
        hint=f"Known: {', '.join(choice.conditions.key for choice in choices) or 'none'}.",
    )


def reasons_of(
    row: BoardRow, conditions: RunConditions, tasks: BoardTasks, measure: str, outside: OutsideRules = NONE_IMPORTED
) -> list[NotRanked]:
    """Why a row is not ranked on a board of these conditions and tasks; empty if it is.

    Args:
        row: the row.
        conditions: of the board.
        tasks: of the board.
        measure: the primary one.
        outside: which imported results are ranked.
    """
    if row.reference:
        return [NotRanked("reference", REFERENCES[row.reference])]
    reasons = outside.reasons(row)
    if difference := row.conditions.differences(conditions):
        reasons.append(NotRanked("conditions", difference))
    if row.passes is None:
        return [*reasons, NotRanked("not_computed", "no result yet")]
    if lack := tasks.lack_of(row):
        reasons.append(NotRanked("partial", lack))
    if row.passes.lost_share > MOST_LOST:
        reasons.append(NotRanked("lost", f"{100 * row.passes.lost_share:.2g} % lost"))
    if row.primary is None:
        reasons.append(NotRanked("no_value", f"no value of {measure}"))
    return reasons


def ranked(rows: Sequence[BoardRow]) -> list[BoardRow]:
    """Rows with their standings: the ranked ones first, then references, then the others."""
    able = [(row, row.primary) for row in rows if not row.reasons and row.primary is not None]
    places = standings([(value.mean, value.interval) for _, value in able])
    lower = [row.lower or 0.0 for row, _ in able]
    placed = [
        replace(row, standing=standing, lower_rank=rank(row.lower or 0.0, lower))
        for (row, _), standing in zip(able, places, strict=True)
    ]
    unranked = [row for row in rows if row.reasons or row.primary is None]
    return sorted(placed + unranked, key=_order)


def _order(row: BoardRow) -> tuple[bool, bool, bool, float, str]:
    value = row.primary
    return (
        row.standing is None,
        not row.reference and row.standing is None,
        value is None,
        -(value.mean if value else 0.0),
        row.run.id.hex,
    )
