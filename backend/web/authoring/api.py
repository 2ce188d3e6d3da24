"""Drafts of own tasks: write, record, try, review, publish."""

from typing import Annotated, Literal
from uuid import UUID

from fastapi import File, Form, Path, Query, Request, Response, UploadFile

from backend.addresses import API
from backend.domain import registry
from backend.domain.drafts import forms
from backend.domain.drafts.content import read_content
from backend.domain.drafts.states import DraftState
from backend.domain.registry import PluginKind
from backend.services.accounts.projects import LONGEST_NAME, person_or_local
from backend.services.authoring import draft_publication, draft_recordings, draft_requests, draft_reviews, draft_trials
from backend.services.authoring import drafts as service
from backend.services.authoring.views.draft import (
    DraftContentView,
    DraftDetail,
    DraftRequestView,
    DraftView,
    PluginView,
    PublishedView,
    draft_detail,
    draft_views,
    form_view,
    request_view,
)
from backend.web.api_common import Cursor, Id, Limit, Page, Word, api_router, next_page_url
from backend.web.authoring import schemas as own
from backend.web.dependencies import ActorDep, EdgeDep, ProjectDep, SessionDep
from backend.web.preconditions import EDITED, IfMatch, check_match, tagged

router = api_router("own tasks")
State = Annotated[list[DraftState], Query(description="Only drafts in one of these states.")]
KINDS = {"setup": PluginKind.SETUP, "getter": PluginKind.GETTER, "metric": PluginKind.METRIC}


@router.get("/drafts")
def list_drafts(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    *,
    state: State = [],  # noqa: B006 - FastAPI copies it
    benchmark: Word = None,
    q: Annotated[str, Query(max_length=200, description="Text in key or instruction.")] = "",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[DraftView]:
    """List drafts, newest first."""
    page = service.list_drafts(session, project, states=state, benchmark=benchmark, words=q, cursor=cursor, limit=limit)
    return Page[DraftView](items=draft_views(session, page.items), next=next_page_url(request, page.next))


@router.post("/drafts", status_code=201)
def create_draft(
    session: SessionDep, project: ProjectDep, edge: EdgeDep, body: own.DraftBody, response: Response
) -> DraftDetail:
    """Create a draft. Only the key is required."""
    by = person_or_local(session, project, body.by, path="by")
    row = service.create(session, read_content(body.content), project=project, author=by, benchmark=body.benchmark)
    response.headers["Location"] = f"{API}/drafts/{row.id}"
    return draft_detail(session, row, edge.store)


@router.get("/drafts/{draft_id}")
def get_draft(session: SessionDep, edge: EdgeDep, draft_id: Id) -> DraftDetail:
    """Get a draft with its checks, trial, reviews, versions and recordings."""
    return draft_detail(session, service.get_draft(session, draft_id), edge.store)


@router.put("/drafts/{draft_id}", responses=EDITED)
def update_draft(  # noqa: PLR0913, PLR0917 - what the edge gives, the body, and what it is a change of
    session: SessionDep,
    project: ProjectDep,
    edge: EdgeDep,
    draft_id: Id,
    body: own.DraftEdit,
    response: Response,
    if_match: IfMatch = None,
) -> DraftDetail:
    """Create a new version, unless the content is the same. Earlier reviews no longer count."""
    by = person_or_local(session, project, body.by, path="by")
    check_match(if_match, lambda: draft_detail(session, service.get_locked(session, draft_id), edge.store))
    row = service.edit(session, draft_id, read_content(body.content), by=by)
    return tagged(response, draft_detail(session, row, edge.store))


@router.get("/drafts/{draft_id}/versions/{number}")
def get_draft_version(
    session: SessionDep, draft_id: Id, number: Annotated[int, Path(ge=1, le=2**31)]
) -> DraftContentView:
    """Get one version of a draft."""
    content = service.content_of(session, service.get_draft(session, draft_id), number)
    return DraftContentView(number=number, content=content.model_dump(mode="json"))


@router.post("/drafts/{draft_id}/files", status_code=201)
def add_draft_file(  # noqa: PLR0913, PLR0917 - what the edge gives, and the form
    session: SessionDep,
    project: ProjectDep,
    edge: EdgeDep,
    draft_id: Id,
    name: Annotated[str, Form(min_length=1, max_length=151, description="Steps and getters write asset:NAME.")],
    file: Annotated[UploadFile, File(description="The file.")],
    by: Annotated[str, Form(max_length=LONGEST_NAME)] = "",
) -> DraftDetail:
    """Add a file that the draft's steps and getters use; one of that name is replaced."""
    data = file.file.read(service.MOST_FILE + 1)
    row = service.add_file(
        session, draft_id, name, data, by=person_or_local(session, project, by, path="by"), store=edge.store
    )
    return draft_detail(session, row, edge.store)


@router.post("/drafts/{draft_id}/trials", status_code=202)
def start_trial(  # noqa: PLR0913, PLR0917 - what the edge gives, and the body
    session: SessionDep, project: ProjectDep, actor: ActorDep, edge: EdgeDep, draft_id: Id, body: own.DraftTrialBody
) -> DraftDetail:
    """Run oracle, noop and always_fail on the draft; results are in `trial`."""
    draft_trials.start_try(session, draft_id, project=project, actor=actor, store=edge.store, provider=body.provider)
    return draft_detail(session, service.get_draft(session, draft_id), edge.store)


@router.post("/drafts/{draft_id}/submit")
def submit_draft(session: SessionDep, edge: EdgeDep, draft_id: Id, body: own.DraftSubmit) -> DraftDetail:
    """Submit a draft for review. Its newest version needs a sound trial."""
    row = draft_reviews.submit(session, draft_id, noop_justification=body.noop_justification)
    return draft_detail(session, row, edge.store)


@router.post("/drafts/{draft_id}/approve")
def approve_draft(
    session: SessionDep, project: ProjectDep, edge: EdgeDep, draft_id: Id, body: own.DraftApproval
) -> DraftDetail:
    """Approve a version. Two people other than its authors must approve it."""
    by = person_or_local(session, project, body.by, path="by")
    row = draft_reviews.approve(session, draft_id, body.version, by=by, comment=body.comment)
    return draft_detail(session, row, edge.store)


@router.post("/drafts/{draft_id}/reject")
def reject_draft(
    session: SessionDep, project: ProjectDep, edge: EdgeDep, draft_id: Id, body: own.DraftRejection
) -> DraftDetail:
    """Reject a version with a reason. One rejection is enough; its author may change it and submit it again."""
    by = person_or_local(session, project, body.by, path="by")
    row = draft_reviews.reject(session, draft_id, body.version, by=by, reason=body.reason, comment=body.comment)
    return draft_detail(session, row, edge.store)


@router.post("/drafts/{draft_id}/recordings", status_code=201)
def start_recording(
    session: SessionDep, project: ProjectDep, edge: EdgeDep, draft_id: Id, body: own.RecordingBody
) -> DraftDetail:
    """Create a desktop on which a person performs the set-up or the solution, on the episode's page."""
    by = person_or_local(session, project, body.by, path="by")
    draft_recordings.begin(
        session, draft_id, body.kind, project=project, actor=by, store=edge.store, provider=body.provider
    )
    return draft_detail(session, service.get_draft(session, draft_id), edge.store)


@router.post("/drafts/{draft_id}/recordings/{recording_id}/apply")
def apply_recording(  # noqa: PLR0913, PLR0917 - what the edge gives, and the body
    session: SessionDep,
    project: ProjectDep,
    edge: EdgeDep,
    draft_id: Id,
    recording_id: Id,
    body: own.RecordingApplyBody,
) -> DraftDetail:
    """Use a recording as the draft's solution, or as an additional set-up step."""
    by = person_or_local(session, project, body.by, path="by")
    row = draft_recordings.use(session, draft_id, recording_id, by=by, store=edge.store)
    return draft_detail(session, row, edge.store)


@router.post("/drafts/publish", status_code=201)
def publish_drafts(session: SessionDep, project: ProjectDep, edge: EdgeDep, body: own.DraftPublish) -> PublishedView:
    """Create the next version of a benchmark from its newest one and the approved drafts."""
    publication = draft_publication.publish(
        session, project, store=edge.store, benchmark=body.benchmark, only=body.drafts
    )
    ids: list[UUID] = [row.id for row in publication.drafts]
    return PublishedView(
        benchmark=body.benchmark,
        version=publication.task_set.version,
        tasks=publication.task_set.counts["tasks"],
        drafts=ids,
    )


@router.post("/draft-requests", status_code=202)
def request_drafts(session: SessionDep, project: ProjectDep, body: own.DraftRequestBody) -> DraftRequestView:
    """Ask a model for drafts for a persona. People must approve them like any other draft."""
    by = person_or_local(session, project, body.by, path="by")
    row = draft_requests.request(
        session,
        project=project,
        actor=by,
        persona=body.persona,
        count=body.count,
        endpoint=body.endpoint,
        model=body.model,
        benchmark=body.benchmark,
        temperature=body.temperature,
    )
    return request_view(row)


@router.get("/draft-requests")
def list_draft_requests(session: SessionDep, project: ProjectDep) -> Page[DraftRequestView]:
    """List requests for generated drafts, newest first, at most 20."""
    rows = draft_requests.list_requests(session, project)
    return Page[DraftRequestView](items=[request_view(row) for row in rows])


@router.get("/plugins/{kind}")
def list_plugins(
    kind: Literal["setup", "getter", "metric"],
    dialect: Annotated[str, Query(min_length=1, max_length=50)] = "starter",
    name: Annotated[str | None, Query(max_length=200, description="Only this one.")] = None,
) -> Page[PluginView]:
    """List set-up steps, getters and metrics with their parameters."""
    registry.load()
    plugin_forms = forms.forms(KINDS[kind], dialect) if name is None else [forms.form_of(KINDS[kind], name, dialect)]
    return Page[PluginView](items=[form_view(form) for form in plugin_forms])
