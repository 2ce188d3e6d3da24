"""Demonstrations and offline studies: import, take from a run, submit, list, show, results, cancel, retry."""

from pathlib import Path
from typing import Annotated

from fastapi import File, Form, Query, Request, Response, UploadFile

from backend.addresses import API
from backend.domain.model.demonstration import SetForm
from backend.domain.studies.offline_results import OfflineProtocol
from backend.services.capacity.worker_capabilities import missing_worker_notice
from backend.services.studies import demonstrations
from backend.services.studies import offline_studies as service
from backend.services.studies.demonstrations import NewSet
from backend.services.studies.views.offline_study import (
    DemonstrationSetView,
    OfflineResults,
    OfflineStudyView,
    offline_results,
    offline_study_view,
    set_view,
)
from backend.web.api_common import Cursor, Id, Limit, Name, Page, RequestModel, Word, api_router, next_page_url
from backend.web.benchmarks.uploads import unpack_archive
from backend.web.dependencies import ActorDep, EdgeDep, ProjectDep, SessionDep
from backend.web.studies.offline_schemas import OfflineStudySubmit, SetFromRun

router = api_router("studies")


class ChangedAnswers(RequestModel):
    """Number of answers that a request changed."""

    answers: int


@router.post("/demonstrations", status_code=201)
def import_demonstrations(  # noqa: PLR0913 - what the edge gives, and the form
    session: SessionDep,
    project: ProjectDep,
    actor: ActorDep,
    edge: EdgeDep,
    *,
    name: Annotated[str, Form(min_length=1, max_length=100, pattern=demonstrations.NAME, examples=["shop"])],
    form: Annotated[SetForm, Form(description="The form of its files; see docs/studies.md.")],
    file: Annotated[UploadFile, File(description="A zip of the set's files.")],
    source: Annotated[str, Form(max_length=2000, description="Source and licence of the set.")] = "",
) -> DemonstrationSetView:
    """Import a set of demonstrations. The same files again are the same set."""
    new = NewSet(name, source, project, actor)
    with unpack_archive(file.file) as folder:
        demonstrations.import_set(session, new, form, set_root(folder), edge.store)
    session.flush()  # The counts below are read again.
    return set_view(demonstrations.get_set(session, project, name))


def set_root(folder: Path) -> Path:
    """The folder, or the only folder in it, as usual in zips."""
    inside = [path for path in folder.iterdir() if path.name != "__MACOSX"]
    return inside[0] if len(inside) == 1 and inside[0].is_dir() else folder


@router.post("/demonstrations/from-run", status_code=201)
def demonstrations_from_run(
    session: SessionDep, project: ProjectDep, actor: ActorDep, edge: EdgeDep, body: SetFromRun
) -> DemonstrationSetView:
    """Make a set of demonstrations of a run's trajectories."""
    new = NewSet(body.name, body.source, project, actor)
    demonstrations.set_from_run(session, new, body.run, edge.store, least_score=body.least_score)
    session.flush()  # The counts below are read again.
    return set_view(demonstrations.get_set(session, project, body.name))


@router.get("/demonstrations")
def list_demonstrations(
    request: Request, session: SessionDep, project: ProjectDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[DemonstrationSetView]:
    """List sets of demonstrations, newest first."""
    page = demonstrations.list_sets(session, project, cursor=cursor, limit=limit)
    return Page[DemonstrationSetView](items=list(map(set_view, page.items)), next=next_page_url(request, page.next))


@router.get("/demonstrations/{name}")
def show_demonstrations(session: SessionDep, project: ProjectDep, name: Name) -> DemonstrationSetView:
    """Show a set of demonstrations."""
    return set_view(demonstrations.get_set(session, project, name))


@router.post("/offline-studies", status_code=201)
def submit_offline_study(
    session: SessionDep, project: ProjectDep, actor: ActorDep, body: OfflineStudySubmit, response: Response
) -> OfflineStudyView:
    """Start an offline study: agents are asked at each recorded step. Nothing starts unless all cells are valid."""
    study = service.submit_offline_study(session, body.config(), project=project, actor=actor)
    response.headers["Location"] = f"{API}/offline-studies/{study.id}"
    view = offline_study_view(service.get_offline_study(session, study.id))
    return view.model_copy(update={"notice": missing_worker_notice(session)})


@router.get("/offline-studies")
def list_offline_studies(
    request: Request, session: SessionDep, project: ProjectDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[OfflineStudyView]:
    """List offline studies, newest first."""
    page = service.list_offline_studies(session, project, cursor=cursor, limit=limit)
    items = list(map(offline_study_view, page.items))
    return Page[OfflineStudyView](items=items, next=next_page_url(request, page.next))


@router.get("/offline-studies/{study_id}")
def show_offline_study(session: SessionDep, study_id: Id) -> OfflineStudyView:
    """Show an offline study with its progress."""
    return offline_study_view(service.get_offline_study(session, study_id))


@router.get("/offline-studies/{study_id}/results")
def show_offline_results(
    session: SessionDep,
    study_id: Id,
    protocol: Annotated[OfflineProtocol | None, Query(description="Metrics to use (default: the set's own).")] = None,
    label: Word = None,
) -> OfflineResults:
    """The study's results: metrics by cell, by kind of action and by a label of the demonstrations."""
    detail = service.get_offline_study(session, study_id)
    return offline_results(detail, service.study_answers(session, study_id), protocol=protocol, label=label or "")


@router.post("/offline-studies/{study_id}/cancel")
def cancel_offline_study(session: SessionDep, study_id: Id) -> ChangedAnswers:
    """Stop asking. Answers that are there stay."""
    return ChangedAnswers(answers=service.cancel_offline_study(session, study_id))


@router.post("/offline-studies/{study_id}/retry")
def retry_offline_study(session: SessionDep, study_id: Id) -> ChangedAnswers:
    """Ask again at steps without an answer."""
    return ChangedAnswers(answers=service.retry_offline_study(session, study_id))
