"""Views of configurations."""

import json
from datetime import datetime
from typing import Any

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration
from backend.db.repositories.common_queries import AnyRow
from backend.db.repositories.configurations import agent_configurations as repository
from backend.services.configurations.configuration_ref import ConfigurationRef


class ConfigurationView(ConfigurationRef):
    """An agent with its parameters, spaces, image preparation and prompts."""

    own_name: str = Field(description="By a user; empty if `name` is the default.")
    default_name: str
    agent: str = Field(examples=["prompt"])
    params: dict[str, Any]
    definition: dict[str, Any] = Field(description="Everything that `identity_hash` is of.")
    identity_hash: str
    privileged: bool = Field(description="It sees the task's solution.")
    human: bool
    runs: int
    created_at: datetime
    newest_run_at: datetime | None


HEAD = (
    "configuration", "name", "agent", "model", "observation", "action_space", "params", "identity_hash", "privileged",
    "human", "runs", "created_at", "newest_run_at",
)  # fmt: skip
"""Columns of a table of configurations; `params` as JSON."""


def table_row(view: ConfigurationView) -> list[Any]:
    """The values of HEAD."""
    spaces = [view.definition.get(name) for name in ("observation", "action_space")]
    params = json.dumps(view.params, ensure_ascii=False, sort_keys=True)
    names = [view.id, view.name, view.agent, view.params.get("model"), *spaces, params, view.identity_hash]
    return [*names, view.privileged, view.human, view.runs, view.created_at, view.newest_run_at]


def configuration_row(row: AnyRow) -> ConfigurationView:
    """A row of `list_configurations`."""
    return _view(row.AgentConfiguration, row.runs, row.newest)


def configuration_view(session: Session, row: AgentConfiguration) -> ConfigurationView:
    """One configuration."""
    counts = repository.run_counts(session, row.id)
    return _view(row, counts.runs, counts.newest)


def _view(row: AgentConfiguration, runs: int, newest: datetime | None) -> ConfigurationView:
    return ConfigurationView(
        id=row.id,
        name=row.title,
        own_name=row.own_name,
        default_name=row.default_name or row.name,
        agent=row.name,
        params=row.params,
        definition=row.definition,
        identity_hash=row.identity_hash,
        privileged=row.privileged,
        human=row.human,
        runs=runs,
        created_at=row.created_at,
        newest_run_at=newest,
    )
