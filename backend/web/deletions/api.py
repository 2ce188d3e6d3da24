"""Delete runs, studies, configurations, drafts and benchmarks; follow what is being removed."""

from fastapi import Request, Response

from backend.addresses import API
from backend.services.deletions import deletions as service
from backend.services.deletions.deletions import DeletionView
from backend.web.api_common import Cursor, Id, Limit, Name, Page, api_router, next_page_url
from backend.web.dependencies import SessionDep

router = api_router("deletions")


@router.delete("/runs/{run_id}", status_code=202)
def delete_run(session: SessionDep, run_id: Id, response: Response) -> DeletionView:
    """Delete an ended run with its episodes and trajectories. Boards forget it at once; the rest follows."""
    return _accepted(service.delete_run(session, run_id), response)


@router.delete("/studies/{study_id}", status_code=202)
def delete_study(session: SessionDep, study_id: Id, response: Response) -> DeletionView:
    """Delete a study with its runs."""
    return _accepted(service.delete_study(session, study_id), response)


@router.delete("/configurations/{configuration_id}", status_code=202)
def delete_configuration(session: SessionDep, configuration_id: Id, response: Response) -> DeletionView:
    """Delete a configuration with its runs."""
    return _accepted(service.delete_configuration(session, configuration_id), response)


@router.delete("/drafts/{draft_id}", status_code=202)
def delete_draft(session: SessionDep, draft_id: Id, response: Response) -> DeletionView:
    """Delete a draft with its versions, recordings and trials. A published task stays."""
    return _accepted(service.delete_draft(session, draft_id), response)


@router.delete("/benchmarks/{name}", status_code=202)
def delete_benchmark(session: SessionDep, name: Name, response: Response) -> DeletionView:
    """Delete a benchmark with all its versions, and the runs and studies on them."""
    return _accepted(service.delete_benchmark(session, name), response)


@router.get("/deletions")
def list_deletions(
    request: Request, session: SessionDep, cursor: Cursor = None, limit: Limit = 50
) -> Page[DeletionView]:
    """List deletions, newest first."""
    page = service.list_deletions(session, cursor, limit)
    return Page[DeletionView](items=page.items, next=next_page_url(request, page.next))


@router.get("/deletions/{deletion_id}")
def get_deletion(session: SessionDep, deletion_id: Id) -> DeletionView:
    """Show a deletion: `finished_at` is set when everything is removed."""
    return service.get_deletion(session, deletion_id)


def _accepted(view: DeletionView, response: Response) -> DeletionView:
    response.headers["Location"] = f"{API}/deletions/{view.id}"
    return view
