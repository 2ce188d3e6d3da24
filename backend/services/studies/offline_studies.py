"""Offline studies: submit, list, progress, cancel, retry, results."""

from collections import defaultdict
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import (
    Actor,
    AgentConfiguration,
    Attempt,
    DemonstrationRecord,
    DemonstrationSet,
    DemonstrationStepRecord,
    OfflineAnswer,
    OfflineCell,
    OfflineStudy,
    Project,
)
from backend.db.models.enums import FLOORS, OfflineAnswerState
from backend.db.repositories.capacity import workers
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.runs import budgets
from backend.db.repositories.studies import demonstrations
from backend.db.repositories.studies import offline_studies as repository
from backend.domain import registry
from backend.domain.errors import Invalid, NotFound
from backend.domain.model.run import RunConfig
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import digest
from backend.domain.model.validation_words import problem_words
from backend.domain.registry import PluginKind
from backend.domain.studies.offline_study import OfflineStudyConfig, offline_cells
from backend.domain.studies.study import DesignCell, sample_tasks
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.capacity import maintenance_mode
from backend.services.capacity.config_checks import checked_agent
from backend.services.capacity.worker_capabilities import Capabilities, expected_capabilities
from backend.services.configurations.configurations import configuration_of
from backend.services.events.worker_wakeup import wake_workers
from backend.services.runs.provenance import pins_of
from backend.services.studies.demonstrations import get_set

MOST_ANSWERS = 200_000


@dataclass(frozen=True)
class OfflineCellDetail:
    """One cell with its configuration and its levels in the order of the factors."""

    row: OfflineCell
    configuration: AgentConfiguration
    levels: Mapping[str, Any]


@dataclass(frozen=True)
class OfflineStudyDetail:
    """A study and its progress.

    Attributes:
        states: answers by state.
        budget_reached: which limit of its project is reached; then nothing is asked.
    """

    study: OfflineStudy
    config: OfflineStudyConfig
    demonstration_set: DemonstrationSet
    actor: str
    cells: Sequence[OfflineCellDetail]
    states: Mapping[str, int]
    budget_reached: str = ""


@dataclass(frozen=True)
class AnswerDetail:
    """An answer with its step and demonstration; `attempt`: the recorded attempt, if it was recorded here."""

    answer: OfflineAnswer
    step: DemonstrationStepRecord
    demonstration: DemonstrationRecord
    attempt: Attempt | None


def submit_offline_study(
    session: Session, study: OfflineStudyConfig, *, project: Project, actor: Actor, key: str | None = None
) -> OfflineStudy:
    """Starts an offline study: workers ask each cell's agent at every step of the demonstrations.

    Args:
        session: the transaction.
        study: the request.
        project: project of the study.
        actor: requesting actor.
        key: a form's key: repeating the request with it returns the same study.

    Raises:
        NotFound: there is no such set.
        Invalid, UnknownPlugin: a factor, a level or a cell is invalid, or its agent cannot be used at recorded steps.
        Conflict: the project is over its disk quota, or the installation is in maintenance mode.
    """
    request_hash = digest(study.model_dump(mode="json", exclude_unset=True))
    existing = repository.by_key(session, project.id, key) if key else None
    if existing is not None:
        return _same(existing, request_hash)
    maintenance_mode.refuse_in_maintenance(session)
    refuse_over_quota(session, project.id)
    of = get_set(session, project, study.demonstrations)
    can = expected_capabilities(session)
    cells = [(cell, _check(can, cell)) for cell in offline_cells(study)]
    keys = demonstrations.keys(session, of.row.id)
    if study.sample is not None:
        keys = sample_tasks(keys, study.sample, study.base.seed)
    steps = demonstrations.step_ids(session, of.row.id, keys)
    if len(cells) * len(steps) > MOST_ANSWERS:
        raise Invalid(
            f"{len(cells) * len(steps)} answers are more than {MOST_ANSWERS}",
            code="study_too_large",
            path="sample",
            hint="Take a sample of the demonstrations, or fewer cells.",
        )
    row = OfflineStudy(
        id=uuid7(),
        project_id=project.id,
        actor_id=actor.id,
        set_id=of.row.id,
        name=study.name,
        config=study.model_dump(mode="json", exclude_unset=True),
        idempotency_key=key,
        request_hash=request_hash,
    )
    session.add(row)
    session.flush()  # Its cells refer to it.
    for number, (cell, config) in enumerate(cells):
        _add_cell(session, row, number, cell, config, can, steps)
    wake_workers(session)
    return row


def _same(study: OfflineStudy, request_hash: str) -> OfflineStudy:
    if study.request_hash != request_hash:
        raise Invalid(
            f"the idempotency key was used for another request (study {study.id})",
            code="idempotency_key_reused",
            hint="Use a new key for a new request.",
        )
    return study


def _check(can: Capabilities, cell: DesignCell) -> RunConfig:
    """The cell's complete configuration. Raises Invalid with the cell's levels."""
    try:
        config = checked_agent(can, cell.config)
        _check_asked(can, config)
    except Invalid as error:
        error.hint = f"{error.hint} In the cell {cell.label[:300]}.".strip() if cell.levels else error.hint
        raise
    return config


def can_be_asked(agent: str) -> bool:
    """Whether the agent of that name can be asked at recorded steps: it takes them as its history, or needs none."""
    registry.load()
    known = agent in registry.names(PluginKind.AGENT)
    return agent in FLOORS or (known and hasattr(registry.lookup(PluginKind.AGENT, agent), "follow"))


def _check_asked(can: Capabilities, config: RunConfig) -> None:
    """Raises Invalid if the agent cannot be asked at a recorded step, or its model cannot be reached."""
    plugin = registry.lookup(PluginKind.AGENT, config.agent)
    if not can_be_asked(config.agent):
        raise Invalid(
            f"the agent {config.agent!r} needs a desktop: it cannot be used at recorded steps",
            code="agent_not_offline",
            path="agent",
            hint="Use an agent with a model, or random, noop or always_fail.",
        )
    names: Mapping[str, str] = getattr(plugin.Params, "models", {"model": "endpoint"})
    for model, field in names.items():
        endpoint = config.params.get(field)
        if not can.reported or not config.params.get(model) or endpoint is None:
            continue
        offer = can.models.get(str(endpoint))
        if offer is None or not offer.get("ok"):
            ready = ", ".join(name for name, model in sorted(can.models.items()) if model.get("ok")) or "none"
            raise Invalid(
                f"no worker can use the endpoint {str(endpoint)[:100]!r}",
                code="endpoint_not_usable",
                path=f"params.{field}",
                hint=f"Ready: {ready}. See docs/models.md.",
            )


def _add_cell(  # noqa: PLR0913, PLR0917 - everything a cell is made of
    session: Session,
    study: OfflineStudy,
    number: int,
    cell: DesignCell,
    config: RunConfig,
    can: Capabilities,
    steps: Sequence[UUID],
) -> None:
    pins = pins_of(config, can.models, datetime.now(UTC).date())
    privileged = bool(can.agents[config.agent].get("privileged"))
    agent = configuration_of(session, study.project_id, config, pins, privileged=privileged, human=False)
    row = OfflineCell(
        id=uuid7(),
        study_id=study.id,
        agent_configuration_id=agent.id,
        number=number,
        levels=dict(cell.levels),
        config=config.model_dump(mode="json"),
    )
    session.add(row)
    session.flush()  # Its answers refer to it.
    values = [{"id": uuid7(), "cell_id": row.id, "step_id": step_id} for step_id in steps]
    session.execute(insert(OfflineAnswer), values)


def get_offline_study(session: Session, study_id: UUID) -> OfflineStudyDetail:
    """The study and its progress. Raises NotFound."""
    study = repository.get(session, study_id)
    if study is None:
        raise NotFound(
            f"there is no offline study {study_id}",
            code="study_not_found",
            hint="`deskarena study offline list` shows them.",
        )
    return _details(session, [study])[0]


COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


def list_offline_studies(
    session: Session, project: Project, *, cursor: str | None = None, limit: int = 50, order: SortOrder | None = None
) -> CursorPage[OfflineStudyDetail]:
    """Studies, newest first or in another order."""
    page = repository.listing(session, project.id, cursor=cursor, limit=limit, order=order)
    return CursorPage(items=_details(session, page.items), next=page.next)


def _details(session: Session, rows: Sequence[OfflineStudy]) -> list[OfflineStudyDetail]:
    ids = [study.id for study in rows]
    states: dict[UUID, dict[str, int]] = defaultdict(dict)
    for row in repository.progress(session, ids):
        states[row.study][row.state] = row.n
    cells: dict[UUID, list[Any]] = defaultdict(list)
    for row in repository.cells(session, ids):
        cells[row.OfflineCell.study_id].append(row)
    reached = budgets.reached_by(session, {study.project_id for study in rows})
    details = (_detail(session, study, cells[study.id], states[study.id]) for study in rows)
    return [replace(detail, budget_reached=reached.get(detail.study.project_id, "")) for detail in details]


def _detail(
    session: Session, study: OfflineStudy, cells: Sequence[Any], states: Mapping[str, int]
) -> OfflineStudyDetail:
    config = OfflineStudyConfig.model_validate(study.config)
    return OfflineStudyDetail(
        study=study,
        config=config,
        demonstration_set=session.get_one(DemonstrationSet, study.set_id),
        actor=session.get_one(Actor, study.actor_id).name,
        cells=[
            OfflineCellDetail(row.OfflineCell, row.AgentConfiguration, config.in_order(row.OfflineCell.levels))
            for row in cells
        ],
        states=states,
    )


def study_answers(session: Session, study_id: UUID) -> list[AnswerDetail]:
    """All answers with their steps, by cell, in order of the set."""
    return [AnswerDetail(*row) for row in repository.answers(session, study_id)]


def get_answer(session: Session, study_id: UUID, answer_id: UUID) -> AnswerDetail:
    """One of the study's answers. Raises NotFound."""
    for row in repository.answers(session, study_id, answer_id):
        return AnswerDetail(*row)
    raise NotFound(f"the study has no answer {answer_id}", code="answer_not_found")


def cancel_offline_study(session: Session, study_id: UUID) -> int:
    """Stops asking; what is under way is finished. Returns the number of cancelled answers. Raises NotFound."""
    get_offline_study(session, study_id)
    values = {"state": OfflineAnswerState.CANCELLED.value, "message": "The study was cancelled."}
    return repository.move_all(session, study_id, [OfflineAnswerState.WAITING.value], values)


def retry_offline_study(session: Session, study_id: UUID) -> int:
    """Asks again where there is no answer: failed or cancelled. Returns their number. Raises NotFound."""
    maintenance_mode.refuse_in_maintenance(session)
    get_offline_study(session, study_id)
    values = {"state": OfflineAnswerState.WAITING.value, "message": "", "tries": 0, "ended_at": None}
    values["available_at"] = workers.now(session)
    before = [OfflineAnswerState.FAILED.value, OfflineAnswerState.CANCELLED.value]
    number = repository.move_all(session, study_id, before, values)
    wake_workers(session)
    return number


def config_of(values: Mapping[str, Any]) -> OfflineStudyConfig:
    """A request as a configuration. Raises Invalid with the path of the first wrong field."""
    try:
        return OfflineStudyConfig.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(problem_words(first), code="invalid_study", path=".".join(map(str, first["loc"]))) from error
