"""Projects and their scheduling settings."""

from typing import Annotated

from fastapi import Path

from backend.services.accounts.projects import LONGEST_NAME, create_project
from backend.services.runs import scheduling_settings as service
from backend.services.runs.scheduling_settings import ProjectView
from backend.web.accounts.schemas import NewProject, ProjectBody
from backend.web.api_common import Page, api_router
from backend.web.dependencies import SessionDep

router = api_router("projects")
Name = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME, description="The project's name.")]


@router.get("/projects")
def projects(session: SessionDep) -> Page[ProjectView]:
    """List projects with their weights, quotas, reserved slots, and the desktops they have."""
    return Page[ProjectView](items=service.list_projects(session))


@router.post("/projects", status_code=201)
def add_project(session: SessionDep, body: NewProject) -> ProjectView:
    """Create a project. People get roles in it by `PATCH /people/{name}` with the header `Deskarena-Project`."""
    create_project(session, body.name)
    return next(view for view in service.list_projects(session) if view.name == body.name)


@router.patch("/projects/{name}")
def set_rules(session: SessionDep, name: Name, body: ProjectBody) -> ProjectView:
    """Change a project's scheduling settings, from the next claim on."""
    return service.set_rules(session, name, body.model_dump(exclude_unset=True))
