"""Agent configurations."""

from collections.abc import Mapping
from typing import Any
from uuid import UUID

from sqlalchemy import select
from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import AgentConfiguration


def get_or_make(  # noqa: PLR0913 - one keyword per thing to ask by
    session: Session,
    project_id: UUID,
    name: str,
    params: Mapping[str, Any],
    params_hash: str,
    *,
    privileged: bool,
    human: bool = False,
) -> AgentConfiguration:
    """The configuration with these parameters, created if missing; concurrent callers get the same one."""
    query = select(AgentConfiguration).where(
        AgentConfiguration.project_id == project_id,
        AgentConfiguration.name == name,
        AgentConfiguration.params_hash == params_hash,
    )
    agent = session.scalar(query)
    if agent is None:
        row = {
            "id": uuid7(),
            "project_id": project_id,
            "name": name,
            "params": dict(params),
            "params_hash": params_hash,
            "privileged": privileged,
            "human": human,
        }
        session.execute(insert(AgentConfiguration).values(row).on_conflict_do_nothing())
        agent = session.scalars(query).one()
    return agent
