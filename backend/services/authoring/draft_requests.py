"""Requests for model-written drafts: stored here, processed by a worker, approved by people."""

from collections.abc import Callable
from dataclasses import dataclass
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, TaskDraftRequest
from backend.db.models.enums import DraftAuthor, DraftRequestState
from backend.db.repositories.attempts import reevaluations
from backend.db.repositories.authoring import draft_requests as repository
from backend.db.repositories.capacity import workers
from backend.domain import registry
from backend.domain.drafts import proposals
from backend.domain.drafts.content import DIALECT
from backend.domain.drafts.proposals import ProposalRequest
from backend.domain.errors import Conflict, Invalid
from backend.domain.model.validation_words import problem_words
from backend.domain.ports.model import ModelReply, ModelRequest
from backend.domain.registry import PluginKind
from backend.services.authoring import drafts
from backend.services.authoring.drafts import OWN, DraftOrigin
from backend.services.capacity import maintenance_mode
from backend.services.capacity.worker_offers import models_of, offers_of_workers, programs_of
from backend.services.events.worker_wakeup import wake_workers


@dataclass(frozen=True)
class DraftRequestJob:
    """A job for a worker; the request's row is locked until its transaction ends."""

    row: TaskDraftRequest
    endpoint: str
    request: ModelRequest


def request(  # noqa: PLR0913 - what a model is asked with
    session: Session,
    *,
    project: Project,
    actor: Actor,
    persona: str,
    count: int,
    endpoint: str,
    model: str,
    benchmark: str = OWN,
    temperature: float | None = None,
) -> TaskDraftRequest:
    """Requests drafts. They belong to the requester, who therefore cannot approve them.

    Raises:
        Invalid: a value is out of bounds, or no worker offers that endpoint; the message says which.
    """
    maintenance_mode.refuse_in_maintenance(session)
    _check_endpoint(session, endpoint)
    parameters = {"endpoint": endpoint, "model": model.strip(), "temperature": temperature}
    try:
        ProposalRequest(persona=persona.strip(), count=count, model=model.strip(), temperature=temperature)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(problem_words(first), code="invalid_request", path=".".join(map(str, first["loc"]))) from error
    row = TaskDraftRequest(
        project_id=project.id,
        actor_id=actor.id,
        benchmark=benchmark,
        persona=persona.strip(),
        requested_count=count,
        model_request=parameters,
    )
    session.add(row)
    session.flush()  # The answer shows it.
    wake_workers(session)
    return row


def claim_request(session: Session, notify: Callable[[UUID], object] | None = None) -> DraftRequestJob | None:
    """The next unclaimed request. Its row stays locked until the transaction ends.

    Args:
        session: the transaction.
        notify: called with its id before anything about it can fail.
    """
    row = repository.next_waiting(session)
    if row is None:
        return None
    if notify is not None:
        notify(row.id)
    reevaluations.hold_long(session)
    registry.load()
    order = ProposalRequest(
        persona=row.persona,
        count=row.requested_count,
        model=str(row.model_request["model"]),
        temperature=row.model_request.get("temperature"),
        programs=tuple(sorted(programs_of(offers_of_workers(session), "local"))),
        setup=tuple(registry.names(PluginKind.SETUP, DIALECT)),
        getters=tuple(registry.names(PluginKind.GETTER, DIALECT)),
        metrics=tuple(registry.names(PluginKind.METRIC, DIALECT)),
    )
    return DraftRequestJob(row, str(row.model_request["endpoint"]), proposals.request_of(order))


def finish(session: Session, job: DraftRequestJob, reply: ModelReply) -> None:
    """Stores the model's drafts, in the transaction that claimed the job.

    Raises:
        Invalid: The model's answer has the wrong form: nothing is stored.
    """
    row = job.row
    contents = proposals.read_proposals(reply.text)[: row.requested_count]
    origin = DraftOrigin(
        DraftAuthor.MODEL, reply.model or job.request.model, proposals.prompt_hash(job.request), row.persona
    )
    project, author = session.get_one(Project, row.project_id), session.get_one(Actor, row.actor_id)
    keys, refused = [], []
    for content in contents:
        try:
            drafts.create(
                session,
                content,
                project=project,
                author=author,
                benchmark=row.benchmark,
                origin=origin,
                note=f"written by {origin.model}",
            )
        except (Conflict, Invalid) as error:
            refused.append(error.message)
        else:
            keys.append(content.key)
    row.state, row.created_count, row.ended_at = DraftRequestState.DONE.value, len(keys), workers.now(session)
    row.message, row.usage = proposals.summary(keys, refused), reply.usage.model_dump(mode="json")


def fail(session: Session, request_id: UUID, message: str) -> None:
    """Ends the request without drafts. Does nothing if it has ended meanwhile."""
    row = repository.get_locked(session, request_id)
    if row is not None and row.state == DraftRequestState.WAITING:
        row.state, row.message, row.ended_at = DraftRequestState.FAILED.value, message[:2000], workers.now(session)


def list_requests(session: Session, project: Project, *, limit: int = 20) -> list[TaskDraftRequest]:
    return list(repository.listing(session, project.id, limit=limit))


def _check_endpoint(session: Session, name: str) -> None:
    """Raises Invalid if no worker can use the endpoint."""
    offers = {view.name: view for view in models_of(offers_of_workers(session))}
    offer = offers.get(name)
    if offer is None or not offer.ok:
        names = ", ".join(view.name for view in offers.values() if view.ok) or "none"
        reason = offer.reason if offer is not None else f"no worker knows the endpoint {name[:100]!r}"
        raise Invalid(
            reason or "this endpoint cannot be used",
            code="endpoint_not_usable",
            path="endpoint",
            hint=f"Ready: {names}. See docs/models.md.",
        )
