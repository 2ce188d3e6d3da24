"""Deletes runs, studies, configurations, drafts and benchmarks with what hangs on them.

A deletion marks everything in one transaction: from then on no page and no board shows it. Workers remove the rows
(`removal`), and what was stored goes a day after nothing refers to it any more (`artifacts.collect_garbage`). What runs
is never deleted: it is cancelled first.
"""

from collections.abc import Sequence
from datetime import datetime
from typing import Any
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Benchmark, Deletion, Run, Study, TaskDraft
from backend.db.models.enums import DeletionKind
from backend.db.project_scope import note_marked
from backend.db.repositories.benchmarks import benchmarks
from backend.db.repositories.capacity import workers
from backend.db.repositories.deletions import deletions as repository
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.results import rollup_jobs
from backend.db.repositories.results.costs import ORACLE
from backend.db.session import after_commit
from backend.domain.errors import Conflict, NotFound
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.domain.model.sort_order import SortOrder
from backend.services.accounts import audit
from backend.services.accounts.principal import principal_of
from backend.services.read_model import ReadModel

COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


class DeletionView(ReadModel):
    """A deletion: marked when it was asked for, finished when everything is removed."""

    id: UUID
    kind: DeletionKind
    target_id: UUID = Field(description="Id of the deleted object.")
    name: str
    requested_by: str
    removed: dict[str, int] = Field(
        description="Number of removed rows by table.", examples=[{"episode": 12, "step": 340}]
    )
    created_at: datetime
    finished_at: datetime | None = Field(description="Null while rows are being removed.")


def delete_run(session: Session, run_id: UUID) -> DeletionView:
    """Deletes a run with its episodes, trajectories and evaluations.

    Raises:
        NotFound: there is no such run.
        Conflict: it has not ended, its episodes are being evaluated, or a study or a draft needs it.
    """
    run = _lock_row(session, DeletionKind.RUN, Run, run_id, "run_not_found")
    if run.study_id is not None:
        raise Conflict("the run is a cell of a study", code="run_in_study", hint="Delete the study.")
    if repository.drafts_recorded_in(session, run_id):
        raise Conflict("a draft was recorded in this run", code="run_in_draft", hint="Delete the draft.")
    return _delete_runs_and(session, DeletionKind.RUN, run, [run], run.name or str(run.id))


def delete_study(session: Session, study_id: UUID) -> DeletionView:
    """Deletes a study with its runs. Raises as `delete_run`."""
    study = _lock_row(session, DeletionKind.STUDY, Study, study_id, "study_not_found")
    runs = repository.runs_of_study(session, study_id)
    study.idempotency_key = None
    return _delete_runs_and(session, DeletionKind.STUDY, study, runs, study.name or str(study.id))


def delete_configuration(session: Session, configuration_id: UUID) -> DeletionView:
    """Deletes a configuration with its runs.

    Raises:
        NotFound: there is no such configuration.
        Conflict: as `delete_run`, or studies use it.
    """
    row = _lock_row(
        session, DeletionKind.CONFIGURATION, AgentConfiguration, configuration_id, "configuration_not_found"
    )
    runs = repository.runs_of_configuration(session, configuration_id)
    if any(run.study_id for run in runs) or repository.offline_cells(session, configuration_id):
        raise Conflict("studies use this configuration", code="configuration_in_study", hint="Delete them first.")
    name = row.title
    # The next run with it makes a new one, of the same name.
    row.identity_hash = row.default_name = f"deleted {row.id}"
    row.own_name = ""
    return _delete_runs_and(session, DeletionKind.CONFIGURATION, row, runs, name)


def delete_draft(session: Session, draft_id: UUID) -> DeletionView:
    """Deletes a draft with its versions, reviews, recordings and trials. Its published task stays.

    Raises:
        NotFound: there is no such draft.
        Conflict: a trial or a recording runs.
    """
    draft = _lock_row(session, DeletionKind.DRAFT, TaskDraft, draft_id, "draft_not_found")
    task_sets = repository.trial_task_sets(session, draft_id)
    runs = {run.id: run for run in repository.recordings_of_draft(session, draft_id)}
    runs |= {run.id: run for run in repository.runs_of_task_sets(session, task_sets)}
    view = _delete_runs_and(session, DeletionKind.DRAFT, draft, [*runs.values()], draft.key)
    for task_set_id in task_sets:
        _add(session, DeletionKind.TASK_SET, task_set_id, draft.project_id, draft.key)
    return view


def delete_benchmark(session: Session, name: str) -> DeletionView:
    """Deletes a benchmark with all its versions, and the runs and studies on them.

    Raises:
        NotFound: there is no such benchmark.
        Conflict: as `delete_run`.
    """
    named = benchmarks.by_name(session, name, lock=True)
    if named is None or named.hidden:
        raise NotFound(f"there is no benchmark {name!r}", code="benchmark_not_found")
    benchmark = _lock_row(session, DeletionKind.BENCHMARK, Benchmark, named.id, "benchmark_not_found")
    runs = repository.runs_of_task_sets(session, repository.task_sets_of_benchmark(session, benchmark.id))
    benchmark.name = f"{name} (deleted {benchmark.id})"  # Its name may be used again.
    view = _delete_runs_and(session, DeletionKind.BENCHMARK, benchmark, runs, name)
    studies = repository.studies(session, sorted({run.study_id for run in runs if run.study_id}))
    for study in studies:
        study.idempotency_key = None
        _mark(session, DeletionKind.STUDY, study, study.name or str(study.id))
    return view


def list_deletions(
    session: Session, cursor: str | None, limit: int, order: SortOrder | None = None
) -> CursorPage[DeletionView]:
    """Deletions, newest first or in another order. Raises Invalid for a bad cursor."""
    page = repository.listing(session, cursor=cursor, limit=limit, order=order)
    return CursorPage([DeletionView.model_validate(row) for row in page.items], page.next)


def get_deletion(session: Session, deletion_id: UUID) -> DeletionView:
    """One deletion. Raises NotFound."""
    row = repository.get(session, deletion_id)
    if row is None:
        raise NotFound(f"there is no deletion {deletion_id}", code="deletion_not_found")
    return DeletionView.model_validate(row)


def _lock_row(session: Session, kind: DeletionKind, table: Any, target_id: UUID, code: str) -> Any:
    row = repository.lock(session, table, target_id)
    if row is None:
        raise NotFound(f"there is no {kind} {target_id}", code=code)
    return row


def _delete_runs_and(session: Session, kind: DeletionKind, row: Any, runs: Sequence[Run], name: str) -> DeletionView:
    _refuse_live(session, runs)
    for run in runs:
        rollup_jobs.mark_others_of_oracle(session, run.id, ORACLE)
        run.idempotency_key = None
        # A job that computes its roll-ups now finds that somebody else has taken it over, and stores nothing.
        run.rollup_stale, run.rollup_started_at = False, None
        if run is not row:
            _mark(session, DeletionKind.RUN, run, run.name or str(run.id))
    deletion = _mark(session, kind, row, name)
    session.flush()
    repository.forget_on_boards(session, runs)
    audit.record(session, f"delete_{kind}", name, {"id": str(row.id), "runs": len(runs)})
    after_commit(session, "deletions:marked", lambda: note_marked(session))
    return DeletionView.model_validate(deletion)


def _refuse_live(session: Session, runs: Sequence[Run]) -> None:
    active = [run for run in runs if RunState(run.state) not in ENDED_RUNS]
    if active:
        raise Conflict(
            f"run {active[0].name or active[0].id} is {active[0].state}",
            code="run_active",
            hint="Cancel it first, and wait until its desktops have stopped.",
        )
    if live := repository.live_among(session, [run.id for run in runs]):
        raise Conflict(
            f"{live} episodes still run or are being evaluated again",
            code="run_active",
            hint="Wait until they have ended.",
        )


def _mark(session: Session, kind: DeletionKind, row: Any, name: str) -> Deletion:
    row.deleted_at = workers.now(session)
    return _add(session, kind, row.id, row.project_id, name)


def _add(session: Session, kind: DeletionKind, target_id: UUID, project_id: UUID, name: str) -> Deletion:
    by = principal_of(session).name
    return repository.add(session, kind, target_id, project_id=project_id, name=name, by=by)
