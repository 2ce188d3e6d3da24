"""Studies: submit, list, show, results."""

from fastapi import Request, Response

from backend.addresses import API
from backend.services.capacity.worker_capabilities import missing_worker_notice
from backend.services.studies import studies as service
from backend.services.studies.views.study import StudyResults, StudyView, results_view, study_view
from backend.web.api_common import Cursor, Id, Limit, Page, api_router, next_page_url
from backend.web.dependencies import ActorDep, ProjectDep, SessionDep
from backend.web.studies.schemas import StudySubmit

router = api_router("studies")


@router.post("/studies", status_code=201)
def submit(
    session: SessionDep, project: ProjectDep, actor: ActorDep, body: StudySubmit, response: Response
) -> StudyView:
    """Start a study, one run per cell. Nothing starts unless all cells are valid."""
    study = service.submit_study(session, body.config(), project=project, actor=actor, tuning=body.tuning())
    response.headers["Location"] = f"{API}/studies/{study.id}"
    view = study_view(service.get_study(session, study.id))
    return view.model_copy(update={"notice": missing_worker_notice(session)})


@router.get("/studies")
def list_studies(
    request: Request, session: SessionDep, project: ProjectDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[StudyView]:
    """List studies, newest first."""
    page = service.list_studies(session, project, cursor=cursor, limit=limit)
    items = [study_view(view) for view in page.items]
    return Page[StudyView](items=items, next=next_page_url(request, page.next))


@router.get("/studies/{study_id}")
def show(session: SessionDep, study_id: Id) -> StudyView:
    """Show a study with its progress."""
    return study_view(service.get_study(session, study_id))


@router.get("/studies/{study_id}/results")
def results(session: SessionDep, study_id: Id) -> StudyResults:
    """The study's results: paired differences, and distributions of steps and endings."""
    return results_view(service.study_results(session, study_id))
