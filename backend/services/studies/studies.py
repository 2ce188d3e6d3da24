"""Studies: submit, list, progress, results."""

import glob
from collections import Counter, defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Actor, AgentConfiguration, Project, Run, Study
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import tasks
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.studies import studies as repository
from backend.domain.errors import Invalid, NotFound
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import digest
from backend.domain.studies.study import DesignCell, StudyConfig, cell_label, cells, sample_tasks
from backend.domain.studies.study_results import CellEpisode, StudyResult, study_result
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.capacity.run_request import RunRequest, select_tasks
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.results.run_summaries import summaries
from backend.services.runs.runs import submit_run
from backend.services.runs.summary import RunSummary

MOST_EPISODES = 200_000
EVEN = SchedulingUpdate()
"""Default: normal priority, no limit."""
_UNDER_WAY = ("waiting", "running")


@dataclass(frozen=True)
class StudyDetail:
    """A study and its progress.

    Attributes:
        agents: of its cells.
        cells: number of cells.
        states: episodes by state.
    """

    study: Study
    config: StudyConfig
    actor: str
    agents: Sequence[str]
    cells: int
    states: Mapping[str, int]

    @property
    def episodes(self) -> int:
        return sum(self.states.values())

    @property
    def ended(self) -> int:
        """Episodes that neither wait nor run."""
        return self.episodes - sum(self.states.get(state, 0) for state in _UNDER_WAY)


@dataclass(frozen=True)
class StudyCell:
    """One cell with its run."""

    run: Run
    configuration: AgentConfiguration
    levels: Mapping[str, Any]
    summary: RunSummary


@dataclass(frozen=True)
class Results:
    """Current results of a study; `cells` and `found.cells` are in the same order, the base cell first."""

    view: StudyDetail
    cells: Sequence[StudyCell]
    result: StudyResult


def submit_study(  # noqa: PLR0913 - what the edge gives, the study, how its runs share, the key
    session: Session,
    study: StudyConfig,
    *,
    project: Project,
    actor: Actor,
    tuning: SchedulingUpdate = EVEN,
    key: str | None = None,
) -> Study:
    """Starts a study, one run per cell; nothing is written unless all cells are valid.

    Args:
        session: the transaction.
        study: the request.
        project: project of the study.
        actor: requesting actor.
        tuning: initial scheduling settings of each run.
        key: a form's key: repeating the request with it returns the same study.

    Returns:
        The new study, or the existing one of the same request.

    Raises:
        NotFound: There is no such benchmark.
        Invalid, UnknownPlugin: a factor, a level, or a cell as a whole is invalid; `path` says which.
        Unavailable: capabilities are unknown, or the provider does not work here.
    """
    shares = tuning.model_dump(exclude_unset=True)
    request_hash = digest(study.model_dump(mode="json", exclude_unset=True) | shares)
    if key:
        existing = repository.by_key(session, project.id, key)
        if existing is not None:
            return _same(existing, request_hash, key)
    drawn = _with_sample(session, study)
    grid = cells(drawn)
    _check_size(session, drawn, grid)
    row = Study(
        id=uuid7(),
        project_id=project.id,
        actor_id=actor.id,
        name=study.name,
        config=drawn.model_dump(mode="json", exclude_unset=True),
        idempotency_key=key,
        request_hash=request_hash,
    )
    session.add(row)
    session.flush()  # Its runs refer to it.
    for cell in grid:
        run = _submit_cell(session, study, cell, project, actor, shares)
        run.study_id, run.cell = row.id, dict(cell.levels)
    return row


def _same(study: Study, request_hash: str, key: str) -> Study:
    if study.request_hash != request_hash:
        raise Invalid(
            f"the idempotency key {key!r} was used for another request (study {study.id})",
            code="idempotency_key_reused",
            hint="Use a new key for a new request.",
        )
    return study


def _with_sample(session: Session, study: StudyConfig) -> StudyConfig:
    """The study with its sample's tasks by name, so that the record has them."""
    if study.sample is None:
        return study
    keys = sample_tasks(_select_keys(session, study), study.sample, study.base.seed)
    base = study.base.model_copy(update={"tasks": tuple(glob.escape(key) for key in keys), "where": ()})
    return study.model_copy(update={"base": base})


def _select_keys(session: Session, study: StudyConfig, patterns: Sequence[str] | None = None) -> list[str]:
    """Tasks of these patterns; default: those of the base cell."""
    task_set = latest_task_set(session, study.benchmark)
    base, selections = study.base, parts.selections(session, task_set.id)
    patterns = base.tasks if patterns is None else patterns
    selection = select_tasks(tasks.all_of(session, task_set.id), patterns, selections, base.where)
    return [task.key for task in selection]


def _check_size(session: Session, study: StudyConfig, grid: Sequence[DesignCell]) -> None:
    cells_by_tasks = Counter(cell.config.tasks for cell in grid)
    numbers = (cells * len(_select_keys(session, study, patterns)) for patterns, cells in cells_by_tasks.items())
    episodes = sum(numbers) * study.base.repeats
    if episodes > MOST_EPISODES:
        hint = "Take a sample of the tasks, fewer factors or fewer repeats."
        raise Invalid(
            f"{episodes} episodes are more than {MOST_EPISODES}", code="study_too_large", path="factors", hint=hint
        )


def _submit_cell(  # noqa: PLR0913, PLR0917 - everything a cell's run is made of
    session: Session, study: StudyConfig, cell: DesignCell, project: Project, actor: Actor, shares: Mapping[str, Any]
) -> Run:
    """Starts a cell's run. Errors include the cell's levels."""
    settings = cell.config.model_dump(mode="json", exclude_unset=True)
    name = f"{study.name}: {cell.label}" if study.name else cell.label
    try:
        request = RunRequest.model_validate({**settings, **shares, "benchmark": study.benchmark, "name": name[:200]})
        return submit_run(session, request, project=project, actor=actor)
    except Invalid as error:
        error.hint = f"{error.hint} In the cell {cell.label[:300]}.".strip()
        raise


def get_study(session: Session, study_id: UUID) -> StudyDetail:
    """The study and its progress. Raises NotFound."""
    study = repository.get(session, study_id)
    if study is None:
        raise NotFound(
            f"there is no study {study_id}", code="study_not_found", hint="`deskarena study list` shows them."
        )
    return _views(session, [study])[0]


COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


def list_studies(
    session: Session, project: Project, *, cursor: str | None = None, limit: int = 50, order: SortOrder | None = None
) -> CursorPage[StudyDetail]:
    """Studies, newest first or in another order."""
    page = repository.listing(session, project.id, cursor=cursor, limit=limit, order=order)
    return CursorPage(items=_views(session, page.items), next=page.next)


def _views(session: Session, rows: Sequence[Study]) -> list[StudyDetail]:
    states: dict[UUID, dict[str, int]] = defaultdict(dict)
    for row in repository.progress(session, [study.id for study in rows]):
        states[row.study][row.state] = row.n
    names: dict[UUID, list[str]] = defaultdict(list)
    numbers: dict[UUID, int] = defaultdict(int)
    for row in repository.agents(session, [study.id for study in rows]):
        names[row.study].append(row.name)
        numbers[row.study] += row.n
    return [
        StudyDetail(
            study=study,
            config=StudyConfig.model_validate(study.config),
            actor=repository.actor(session, study),
            agents=names[study.id],
            cells=numbers[study.id],
            states=states[study.id],
        )
        for study in rows
    ]


def study_cells(session: Session, view: StudyDetail) -> list[StudyCell]:
    """The cells with their runs and rates, the base cell first."""
    rows = repository.runs(session, view.study.id)
    rates = summaries(session, [row.Run for row in rows])
    return [
        StudyCell(row.Run, row.AgentConfiguration, view.config.in_order(row.Run.cell or {}), rates[row.Run.id])
        for row in rows
    ]


def study_results(session: Session, study_id: UUID) -> Results:
    """Current results, computed from the study's episodes. Raises NotFound."""
    view = get_study(session, study_id)
    cells = study_cells(session, view)
    facts: dict[UUID, list[CellEpisode]] = {cell.run.id: [] for cell in cells}
    for row in repository.facts(session, study_id):
        facts[row.run_id].append(CellEpisode(*row[1:]))
    result = study_result(view.config, [(cell.levels, facts[cell.run.id]) for cell in cells])
    return Results(view, cells, result)


def sentence(results: Results) -> str:
    """Summary sentence: what was compared, and which differences are significant after correction."""
    config = results.view.config
    tested = [level for level in results.result.levels if level.adjusted_p is not None]
    clear = [level for level in tested if (level.adjusted_p or 0.0) <= 1 - config.level]
    base = cell_label(results.cells[0].levels) if results.cells else ""
    if not tested:
        return f"No pair of episodes counts yet against the base cell ({base})."
    names = "; ".join(cell_label({level.factor: level.level}) for level in clear)
    number = f"{len(clear)} of {len(tested)} levels"
    verb = "differs" if len(clear) == 1 else "differ"
    message = f"{number} {verb} in success rate from the first level of the factor beyond what chance explains"
    return f"{message}: {names}." if clear else f"{message}. The base cell is {base}."
