"""Configurations: list, search, show, rename."""

from typing import Annotated

from fastapi import Query, Request, Response
from pydantic import Field

from backend.services.configurations import configurations as service
from backend.services.configurations.definitions import LONGEST_NAME
from backend.services.configurations.views import ConfigurationView, configuration_row, configuration_view
from backend.web.api_common import Cursor, Id, Limit, Page, RequestModel, api_router, next_page_url
from backend.web.dependencies import ProjectDep, SessionDep
from backend.web.preconditions import EDITED, IfMatch, check_match, tagged

router = api_router("configurations")


class ConfigurationBody(RequestModel):
    """A new name."""

    name: str = Field(
        max_length=LONGEST_NAME, description="Empty: the default name.", examples=["nightly, small model"]
    )


@router.get("/configurations")
def list_configurations(  # noqa: PLR0913 - one parameter per filter
    request: Request,
    session: SessionDep,
    project: ProjectDep,
    *,
    q: Annotated[str, Query(max_length=200, description="Part of a name, an agent or a model.")] = "",
    cursor: Cursor = None,
    limit: Limit = 50,
) -> Page[ConfigurationView]:
    """List configurations, newest first."""
    page = service.list_configurations(session, project, words=q, cursor=cursor, limit=limit)
    return Page[ConfigurationView](
        items=[configuration_row(row) for row in page.items], next=next_page_url(request, page.next)
    )


@router.get("/configurations/{configuration_id}")
def get_configuration(session: SessionDep, configuration_id: Id) -> ConfigurationView:
    """Show a configuration."""
    return configuration_view(session, service.get_configuration(session, configuration_id))


@router.patch("/configurations/{configuration_id}", responses=EDITED)
def rename_configuration(
    session: SessionDep, configuration_id: Id, body: ConfigurationBody, response: Response, if_match: IfMatch = None
) -> ConfigurationView:
    """Rename a configuration, on every page at once. Results are unaffected. Safe to repeat."""

    def current() -> ConfigurationView:
        return configuration_view(session, service.get_configuration(session, configuration_id, lock=True))

    check_match(if_match, current)
    return tagged(response, configuration_view(session, service.rename(session, configuration_id, body.name)))
