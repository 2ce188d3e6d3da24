"""Configurations: found or created by their identity, listed, searched, renamed."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Project
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.configurations import agent_configurations as repository
from backend.db.repositories.pagination import CursorPage
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.run import RunConfig
from backend.domain.model.sort_order import SortOrder
from backend.services.configurations.definitions import (
    LONGEST_NAME,
    SEPARATOR,
    default_name,
    definition_of,
    identity_hash,
)


def configuration_of(  # noqa: PLR0913 - who acts, and what the plug-in says of itself
    session: Session, project_id: UUID, config: RunConfig, pins: Mapping[str, Any], *, privileged: bool, human: bool
) -> AgentConfiguration:
    """The configuration of a run, created if the project has none with this identity."""
    definition = definition_of(config, pins.get("prompts") or {})
    identity = identity_hash(definition)
    row = repository.by_identity(session, project_id, config.agent, identity)
    if row is not None:
        return row
    values = {
        "project_id": project_id,
        "name": config.agent,
        "params": dict(config.params),
        "identity_hash": identity,
        "definition": definition,
        "default_name": _free_name(session, project_id, default_name(definition, config.preset), identity),
        "privileged": privileged,
        "human": human,
    }
    return repository.create(session, values)


def _free_name(session: Session, project_id: UUID, name: str, identity: str) -> str:
    """The name, with the start of the identity if another configuration has it."""
    return f"{name}{SEPARATOR}#{identity[:6]}" if repository.has_title(session, project_id, name) else name


def get_configuration(session: Session, configuration_id: UUID, *, lock: bool = False) -> AgentConfiguration:
    """The configuration, locked until the commit if asked for. Raises NotFound."""
    row = repository.get(session, configuration_id, lock=lock)
    if row is None:
        raise NotFound(
            "Configuration not found.", code="configuration_not_found", hint="The list is at /configurations."
        )
    return row


COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


def list_configurations(  # noqa: PLR0913 - whose, which, in which order, from where on
    session: Session,
    project: Project,
    *,
    words: str = "",
    cursor: str | None = None,
    limit: int = 50,
    order: SortOrder | None = None,
) -> CursorPage[AnyRow]:
    """Rows (AgentConfiguration, runs, newest run's time), newest first; `words`: part of name, agent or model."""
    return repository.listing(session, project.id, words.strip(), cursor=cursor, limit=limit, order=order)


def rename(session: Session, configuration_id: UUID, name: str) -> AgentConfiguration:
    """Gives a configuration a name of the user's own; an empty one restores the default.

    Raises:
        NotFound: there is no such configuration.
        Invalid: the name is too long, or has line breaks or other control characters.
        Conflict: another configuration has this name.
    """
    row, name = get_configuration(session, configuration_id), name.strip()
    if len(name) > LONGEST_NAME or (name and not name.isprintable()):
        raise Invalid(
            f"expected a name of at most {LONGEST_NAME} characters on one line", code="invalid_name", path="name"
        )
    if repository.has_title(session, row.project_id, name or row.default_name, besides=row.id):
        raise Conflict(
            f"another configuration is called {name or row.default_name!r}",
            code="name_already_used",
            hint="Choose another name.",
        )
    row.own_name = name
    session.flush()
    return row
