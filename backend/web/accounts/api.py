"""Projects: how they share in the slots."""

from typing import Annotated

from fastapi import Path

from backend.services import tuning as service
from backend.services.projects import LONGEST_NAME
from backend.services.tuning import ProjectRow
from backend.web.api import schemas
from backend.web.api.common import api_router
from backend.web.api.schemas_projects import ProjectBody, ProjectView
from backend.web.edge import SessionDep

router = api_router("projects")
Name = Annotated[str, Path(min_length=1, max_length=LONGEST_NAME, description="The project's name.")]


@router.get("/projects")
def projects(session: SessionDep) -> schemas.Page[ProjectView]:
    """List projects with their weights, quotas, reserved slots, and the desktops they have."""
    return schemas.Page[ProjectView](items=[_view(row) for row in service.list_projects(session)])


@router.patch("/projects/{name}")
def set_rules(session: SessionDep, name: Name, body: ProjectBody) -> ProjectView:
    """Change how a project shares in the slots, from the next claim on."""
    return _view(service.set_rules(session, name, body.model_dump(exclude_unset=True)))


def _view(row: ProjectRow) -> ProjectView:
    rules = row.rules
    return ProjectView(
        name=row.name,
        weight=rules.weight,
        quota=dict(rules.quota),
        reserved=dict(rules.reserved),
        in_use=dict(row.in_use),
    )
