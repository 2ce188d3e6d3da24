"""Changes a run's or project's scheduling settings, from the next claim on."""

from collections.abc import Collection, Iterable
from typing import Any
from uuid import UUID

from pydantic import Field, ValidationError
from sqlalchemy.orm import Session

from backend.db.models import Project, Run
from backend.db.repositories.accounts import projects as project_repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.runs import runs as repository
from backend.db.repositories.runs.budgets import spent_by_run
from backend.db.repositories.scheduling import scheduler
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.episode import ENDED_RUNS, RunState
from backend.domain.model.validation_words import problem_words
from backend.domain.scheduling.projects import ALL, PROVIDERS, ProjectRules
from backend.services import events
from backend.services.accounts.projects import own_projects
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.events import EventKind, worker_wakeup
from backend.services.read_model import ReadModel
from backend.services.runs import budgets


class ProjectView(ReadModel):
    """A project with its scheduling settings and its running desktops."""

    name: str = Field(examples=["default"])
    weight: float
    quota: dict[str, int] = Field(description="By provider; `all` = all providers together.")
    reserved: dict[str, int]
    in_use: dict[str, int] = Field(description="Desktops that it has now, by provider.", examples=[{"local": 2}])


def update_scheduling(session: Session, run_id: UUID, tuning: SchedulingUpdate) -> Run:
    """Updates the fields in `tuning`, from the next claim on; running attempts continue. Safe to call twice.

    Raises:
        NotFound: There is no such run.
        Conflict: It has ended.
    """
    run = repository.lock(session, run_id)
    if run is None:
        raise NotFound(f"there is no run {run_id}", code="run_not_found", hint="`deskarena run list` shows them.")
    if RunState(run.state) in ENDED_RUNS:
        hint = "" if run.state == RunState.CANCELLED else "`deskarena run retry` tries its lost episodes again."
        raise Conflict(f"the run is {run.state}: it gets no further slots", code="run_ended", hint=hint)
    values: dict[str, Any] = tuning.model_dump(exclude_unset=True)
    changed = {name: value for name, value in values.items() if getattr(run, name) != value}
    for name, value in changed.items():
        setattr(run, name, value)
    if changed.keys() & {"run_usd", "run_tokens", "run_desktop_hours"}:
        budgets.note_spent(session, run, spent_by_run(session, run_id))
    if changed:
        events.append(session, run, EventKind.RUN_TUNED, changed)
        worker_wakeup.wake_workers(session)
    return run


def list_projects(session: Session) -> list[ProjectView]:
    """The projects in which who asks has a role, by name."""
    busy, own = scheduler.in_use_by_project(session), set(own_projects(session))
    return [_view(row, busy.get(row.id, {})) for row in project_repository.listing(session) if row.name in own]


def _view(project: Project, in_use: dict[str, int]) -> ProjectView:
    rules = _rules(project)
    return ProjectView(
        name=project.name, weight=rules.weight, quota=rules.quota, reserved=rules.reserved, in_use=in_use
    )


def set_rules(session: Session, name: str, changes: dict[str, Any]) -> ProjectView:
    """Changes a project's rules; rules not in `changes` stay.

    Raises:
        NotFound: There is no such project.
        Invalid: a rule is not valid, or for an unknown provider; `path` names it.
    """
    row = project_repository.by_name(session, name)
    if row is None:
        raise NotFound(
            f"there is no project {name!r}", code="project_not_found", hint="`deskarena project list` shows them."
        )
    try:
        rules = ProjectRules.model_validate({**_rules(row).model_dump(), **changes})
    except ValidationError as error:
        first = error.errors()[0]
        raise Invalid(
            problem_words(first), code="invalid_request", path=".".join(str(part) for part in first["loc"])
        ) from None
    providers = PROVIDERS | workers.providers_by_name(session)
    _check_providers("quota", changes.get("quota", {}), {ALL, *providers})
    _check_providers("reserved", changes.get("reserved", {}), providers)
    row.weight, row.quota, row.reserved = rules.weight, dict(rules.quota), dict(rules.reserved)
    worker_wakeup.wake_workers(session)
    return next(project for project in list_projects(session) if project.name == name)


def _check_providers(rule: str, named: Iterable[str], providers: Collection[str]) -> None:
    """A rule for an unknown provider would have no effect."""
    for name in named:
        if name not in providers:
            message = f"there is no provider {name!r}, only {', '.join(sorted(providers))}"
            raise Invalid(message, code="invalid_request", path=f"{rule}.{name}")


def _rules(row: Project) -> ProjectRules:
    return ProjectRules(weight=row.weight, quota=row.quota, reserved=row.reserved)
