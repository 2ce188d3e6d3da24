"""Why and how runs fail, side by side: labels, endings, and the tasks that fail always, never or sometimes."""

from collections import Counter, defaultdict
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.results import comparisons
from backend.db.repositories.results import failure_labels as repository
from backend.domain.judging.failure_labels import LABELS, shares
from backend.domain.model.task import UNLABELLED
from backend.services.read_model import ReadModel
from backend.services.results import failure_labels as service
from backend.services.results.configuration_differences import (
    FieldDifference,
    condition_differences,
    configuration_differences,
)
from backend.services.results.failure_labels import SAMPLE, Failure, ShareView
from backend.services.results.views.compared_results import varying_labels
from backend.services.results.views.comparison import comparable_runs, run_titles

NOT_IDENTITY = ("code.", "model.")
"""Pins that may differ between passes of one configuration."""


class FailureGroup(ReadModel):
    """The failures of one configuration, on the tasks with one value of a label if there is one.

    `by_people`: among the sampled failures that people labelled; `by_rules`: among all sampled ones.
    """

    position: int = Field(description="Of its configuration in `configurations`.")
    value: str | None = None
    episodes: int = Field(description="Scored, with those that were solved.")
    failed: int
    sampled: int
    judged: int
    ends: dict[str, int] = Field(description="Scored episodes by what ended them.", examples=[{"done": 30}])
    by_people: list[ShareView]
    by_rules: list[ShareView]


class ConfigurationRuns(ReadModel):
    """A configuration under the same conditions: several runs are its passes."""

    title: str
    runs: list[UUID]


class TaskPasses(ReadModel):
    """Results of each configuration's passes on a task."""

    task: str = Field(examples=["files/rename-report"])
    task_id: UUID
    instruction: str
    solved: list[int] = Field(description="Passes that solved it, by configuration.")
    passes: list[int]

    @property
    def failed(self) -> int:
        return sum(self.passes) - sum(self.solved)

    @property
    def flips(self) -> bool:
        """Whether passes of one configuration disagree."""
        return any(0 < solved < passes for solved, passes in zip(self.solved, self.passes, strict=True))


class FailureBreakdown(ReadModel):
    """1 to 8 runs. Tasks are those that every configuration has a scored episode of, most failures first."""

    benchmark: str
    configurations: list[ConfigurationRuns]
    conditions: list[FieldDifference] = Field(description="Conditions in which the configurations' runs differ.")
    seed: int
    label: str | None
    labels: list[str] = Field(description="Labels of the tasks with more than one value.")
    groups: list[FailureGroup]
    tasks: list[TaskPasses]
    all_fail: int = Field(description="Tasks that no pass solves.")
    all_pass: int = Field(description="Tasks that every pass solves.")
    flip: int = Field(description="Tasks on which passes of the same configuration disagree.")
    repeated: int = Field(
        description="Tasks with several passes of one configuration: the denominator of `flake_rate`."
    )
    flake_rate: float | None


def failure_breakdown(
    session: Session, run_ids: Sequence[UUID], label: str | None = None, *, number: int = SAMPLE, seed: int = 0
) -> FailureBreakdown:
    """The failures of runs by configuration.

    Args:
        session: the transaction.
        run_ids: 1 to 8 of one benchmark.
        label: of the tasks, to cut by.
        number: failures that are drawn of each run, for shares of labels.
        seed: of the draw.

    Raises:
        NotFound, Invalid, Conflict: as `comparable_runs`.
    """
    rows = comparable_runs(session, run_ids, least=1)
    members = _configurations(rows)
    column_of = {row.Run.id: at for at, rows in enumerate(members) for row in rows}
    outcomes = repository.outcomes(session, list(column_of))
    described = {row.id: row for row in comparisons.tasks(session, list({row.task_id for row in outcomes}))}
    labels = {row.key: described[row.task_id].labels for row in outcomes}
    values = {key: values.get(label, [UNLABELLED]) for key, values in labels.items()} if label else {}
    drawn = {run: service.sample(session, run, number=number, seed=seed).episodes for run in column_of}
    tasks = _tasks(outcomes, column_of, described)
    repeated = [task for task in tasks if max(task.passes) > 1]
    flip = sum(task.flips for task in tasks)
    return FailureBreakdown(
        benchmark=rows[0].benchmark,
        configurations=[
            ConfigurationRuns(title=title, runs=[row.Run.id for row in rows])
            for title, rows in zip(_titles(members), members, strict=True)
        ],
        conditions=condition_differences([member[0] for member in members]),
        seed=seed,
        label=label,
        labels=varying_labels(labels.values()),
        groups=list(_groups(outcomes, drawn, column_of, values)),
        tasks=sorted(tasks, key=lambda task: (-task.failed / sum(task.passes), -task.failed, task.task)),
        all_fail=sum(not any(task.solved) for task in tasks),
        all_pass=sum(not task.failed for task in tasks),
        flip=flip,
        repeated=len(repeated),
        flake_rate=flip / len(repeated) if repeated else None,
    )


def _configurations(rows: Sequence[AnyRow]) -> list[list[AnyRow]]:
    """Runs of equal configurations under equal conditions belong together."""
    groups: list[list[AnyRow]] = []
    for row in rows:
        same = next((group for group in groups if _is_pass(group[0], row)), None)
        if same is None:
            groups.append([row])
        else:
            same.append(row)
    return groups


def _is_pass(first: AnyRow, second: AnyRow) -> bool:
    if condition_differences([first, second]):
        return False
    return all(difference.name.startswith(NOT_IDENTITY) for difference in configuration_differences([first, second]))


def _titles(groups: Sequence[Sequence[AnyRow]]) -> list[str]:
    """Names of the groups; equal ones, as of one configuration under other conditions, with the end of a run's id."""
    single = run_titles([rows[0] for rows in groups])
    titles = [
        title if len(rows) == 1 else f"{rows[0].AgentConfiguration.title}, {len(rows)} runs"
        for title, rows in zip(single, groups, strict=True)
    ]
    numbers = Counter(titles)
    return [
        f"{title} ({rows[0].Run.id.hex[-6:]})" if numbers[title] > 1 else title
        for title, rows in zip(titles, groups, strict=True)
    ]


def _groups(
    outcomes: Sequence[AnyRow],
    drawn: Mapping[UUID, Sequence[Failure]],
    column_of: Mapping[UUID, int],
    values: Mapping[str, Sequence[str]],
) -> Iterable[FailureGroup]:
    """By configuration, and by the label's values where there are some."""
    ends: dict[tuple[int, str | None], Counter[str]] = defaultdict(Counter)
    failed: Counter[tuple[int, str | None]] = Counter()
    failures: dict[tuple[int, str | None], list[Failure]] = defaultdict(list)
    for row in outcomes:
        for value in values.get(row.key, (None,)):
            group = column_of[row.run], value
            ends[group][row.ended_by or ""] += row.n
            failed[group] += 0 if row.solved else row.n
    for run, sample in drawn.items():
        for failure in sample:
            for value in values.get(failure.task, (None,)):
                failures[column_of[run], value].append(failure)
    for group in sorted(ends, key=lambda end: (end[1] or "", end[0])):
        yield _group(group, ends[group], failed[group], failures[group])


def _group(group: tuple[int, str | None], ends: Counter[str], failed: int, failures: Sequence[Failure]) -> FailureGroup:
    judged = [failure for failure in failures if failure.reviews]
    by_rules = shares([{suggestion.label for suggestion in failure.suggested} for failure in failures])
    return FailureGroup(
        position=group[0],
        value=group[1],
        episodes=ends.total(),
        failed=failed,
        sampled=len(failures),
        judged=len(judged),
        ends=dict(ends.most_common()),
        by_people=list(map(ShareView.model_validate, shares([failure.labels for failure in judged]))),
        by_rules=[
            ShareView.model_validate(share) for share, known in zip(by_rules, LABELS, strict=True) if known.by_rule
        ],
    )


def _tasks(
    outcomes: Sequence[AnyRow], column_of: Mapping[UUID, int], described: Mapping[UUID, comparisons.LabelledTask]
) -> list[TaskPasses]:
    """The tasks that every configuration has passes of."""
    columns = max(column_of.values()) + 1
    passes: dict[str, list[int]] = defaultdict(lambda: [0] * columns)
    solved: dict[str, list[int]] = defaultdict(lambda: [0] * columns)
    ids: dict[str, UUID] = {}
    for row in outcomes:
        ids.setdefault(row.key, row.task_id)
        passes[row.key][column_of[row.run]] += row.n
        solved[row.key][column_of[row.run]] += row.n if row.solved else 0
    return [
        TaskPasses(
            task=key,
            task_id=ids[key],
            instruction=described[ids[key]].instruction,
            solved=solved[key],
            passes=numbers,
        )
        for key, numbers in passes.items()
        if all(numbers)
    ]


def _share_rows(breakdown: FailureBreakdown) -> Iterator[list[Any]]:
    for group in breakdown.groups:
        for source, own in (("people", group.by_people), ("rule", group.by_rules)):
            for share in own:
                low, high = share.interval or (None, None)
                yield [
                    *_group_names(breakdown, group),
                    source,
                    share.label,
                    share.count,
                    share.n,
                    share.share,
                    low,
                    high,
                ]


def _end_rows(breakdown: FailureBreakdown) -> Iterator[list[Any]]:
    for group in breakdown.groups:
        for end, number in group.ends.items():
            yield [*_group_names(breakdown, group), end, number, group.episodes, group.failed]


def _task_rows(breakdown: FailureBreakdown) -> Iterator[list[Any]]:
    for task in breakdown.tasks:
        for configuration, solved, passes in zip(breakdown.configurations, task.solved, task.passes, strict=True):
            yield [task.task, configuration.title, solved, passes, task.flips]


def _group_names(breakdown: FailureBreakdown, group: FailureGroup) -> list[Any]:
    return [breakdown.configurations[group.position].title, breakdown.label, group.value]


_GROUP = ("configuration", "label", "value")
TABLES: Mapping[str, tuple[Sequence[str], Callable[[FailureBreakdown], Iterator[list[Any]]]]] = {
    "shares": ((*_GROUP, "by", "failure_label", "count", "n", "share", "low", "high"), _share_rows),
    "ends": ((*_GROUP, "ended_by", "episodes", "scored", "failed"), _end_rows),
    "tasks": (("task", "configuration", "solved", "passes", "flips"), _task_rows),
}
"""Columns and rows of the breakdown's tables."""
