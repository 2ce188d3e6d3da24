"""Delete runs, studies, configurations, drafts and benchmarks; follow what is being removed."""

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import Field

from backend.addresses import API
from backend.services.deletions import deletions as service
from backend.services.deletions import retention
from backend.services.deletions.deletions import DeletionView
from backend.services.deletions.retention import RetentionPreview, RetentionView
from backend.web.api_common import Cursor, Id, Limit, Name, Page, RequestModel, api_router, next_page_url
from backend.web.dependencies import ProjectDep, SessionDep

router = api_router("deletions")
MOST_DAYS = 36500
Days = Annotated[int | None, Query(ge=1, le=MOST_DAYS, description="Age in days, in place of the project's rule.")]


class RetentionChanges(RequestModel):
    """Rules to change; what is left out stays."""

    run_days: int | None = Field(default=None, ge=1, le=MOST_DAYS, examples=[365])
    draft_days: int | None = Field(default=None, ge=1, le=MOST_DAYS)
    screen_days: int | None = Field(default=None, ge=1, le=MOST_DAYS, examples=[30])
    disk_quota_mib: int | None = Field(default=None, ge=0, le=10**9, description="MiB.", examples=[102400])


@router.delete("/runs/{run_id}", status_code=202)
def delete_run(session: SessionDep, run_id: Id, response: Response) -> DeletionView:
    """Delete an ended run with its episodes and trajectories. Boards forget it at once; the rest follows."""
    return _accepted_response(service.delete_run(session, run_id), response)


@router.delete("/studies/{study_id}", status_code=202)
def delete_study(session: SessionDep, study_id: Id, response: Response) -> DeletionView:
    """Delete a study with its runs."""
    return _accepted_response(service.delete_study(session, study_id), response)


@router.delete("/configurations/{configuration_id}", status_code=202)
def delete_configuration(session: SessionDep, configuration_id: Id, response: Response) -> DeletionView:
    """Delete a configuration with its runs."""
    return _accepted_response(service.delete_configuration(session, configuration_id), response)


@router.delete("/drafts/{draft_id}", status_code=202)
def delete_draft(session: SessionDep, draft_id: Id, response: Response) -> DeletionView:
    """Delete a draft with its versions, recordings and trials. A published task stays."""
    return _accepted_response(service.delete_draft(session, draft_id), response)


@router.delete("/benchmarks/{name}", status_code=202)
def delete_benchmark(session: SessionDep, name: Name, response: Response) -> DeletionView:
    """Delete a benchmark with all its versions, and the runs and studies on them."""
    return _accepted_response(service.delete_benchmark(session, name), response)


@router.get("/retention")
def get_retention(session: SessionDep, project: ProjectDep) -> RetentionView:
    """Show how long the project's data are kept, and how much it stores and may store."""
    return retention.get_retention(session, project)


@router.patch("/retention")
def set_retention(session: SessionDep, project: ProjectDep, body: RetentionChanges) -> RetentionView:
    """Change the project's rules; null removes one. They apply within the hour. The quota needs an administrator."""
    return retention.set_retention(session, project, body.model_dump(exclude_unset=True))


@router.get("/retention/preview")
def preview_retention(
    session: SessionDep, project: ProjectDep, run_days: Days = None, draft_days: Days = None, screen_days: Days = None
) -> RetentionPreview:
    """Preview what the rules, or those of the query, would remove now. Removes nothing."""
    rules = {"run_days": run_days, "draft_days": draft_days, "screen_days": screen_days}
    return retention.preview(session, project, {name: value for name, value in rules.items() if value is not None})


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


def _accepted_response(view: DeletionView, response: Response) -> DeletionView:
    response.headers["Location"] = f"{API}/deletions/{view.id}"
    return view
