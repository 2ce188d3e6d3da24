"""Tables of a run's page as flat rows."""

from collections.abc import Iterator, Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Run
from backend.db.repositories.runs import runs_view as repository
from backend.domain.errors import Conflict
from backend.domain.model.outcome_style import OutcomeStyle
from backend.services.benchmarks.labels import label_counts
from backend.services.runs.runs import get_run
from backend.services.runs.views.model_parts import model_part_rows
from backend.services.runs.views.run_page import (
    RunPageQuery,
    heat_map_labels,
    loss_group,
    matrix_of,
    unrated_episode,
)

MOST_LOSSES = 10_000
MATRIX_HEAD = ("row_label", "row", "column_label", "column", "episodes", "scored", "solved", *OutcomeStyle)
LOSS_HEAD = ("failure_class", "failure_code", "reason", "attempts", "episodes", "lost", "example")
MODEL_HEAD = (
    "part", "model", "endpoint", "calls", "failed", "failures", "median_seconds", "input_tokens", "output_tokens",
    "usd",
)  # fmt: skip
Rows = Iterator[Sequence[Any]]


def _visible_run(session: Session, run_id: UUID) -> Run:
    """The run. Raises NotFound, Conflict while one of its results is hidden from its person."""
    run, row = get_run(session, run_id), repository.run(session, run_id)
    if row is not None and row.AgentConfiguration.human and unrated_episode(session, run_id):
        raise Conflict(
            "A result of this run is hidden until its person has rated the task.",
            code="result_hidden",
            hint="Rate it on the person's page first.",
        )
    return run


def matrix_rows(session: Session, run_id: UUID, row: str, column: str | None) -> Rows:
    """Episodes by the values of one or two labels, with the count of each outcome. Raises as `loss_rows`."""
    run = _visible_run(session, run_id)
    labels = label_counts(repository.task_set(session, run.task_set_id))
    matrix = matrix_of(session, run, *heat_map_labels(labels, RunPageQuery({}, row=row, column=column)))
    for (value, other), cell in sorted(matrix.cells.items()):
        counts = [cell.split.counts.get(style, 0) for style in OutcomeStyle]
        yield matrix.row, value, matrix.column, other, cell.split.total, cell.scored, cell.solved, *counts


def loss_rows(session: Session, run_id: UUID) -> Rows:
    """Lost attempts by class, code and reason. Raises NotFound, Conflict while a result of the run is hidden."""
    _visible_run(session, run_id)
    for group in map(loss_group, repository.losses(session, run_id, MOST_LOSSES)):
        yield (
            *(group.failure_class, group.failure_code, group.reason, group.attempts, group.episodes, group.lost),
            str(group.example),
        )


def model_rows(session: Session, run_id: UUID) -> Rows:
    """Calls by part of the agent and model. Raises NotFound."""
    get_run(session, run_id)
    for row in model_part_rows(session, run_id):
        failures = ", ".join(f"{words} {number}" for words, number in row.failures)
        yield (
            *(row.part, row.model, row.endpoint, row.calls, row.failed, failures, row.median_seconds),
            *(row.input_tokens, row.output_tokens, row.usd if row.priced else None),
        )
