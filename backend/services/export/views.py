"""Views of the export page."""

import shlex
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode
from uuid import UUID

from sqlalchemy.orm import Session

from backend.addresses import API
from backend.db.repositories.export import training_data as repository
from backend.domain import registry
from backend.domain.errors import Invalid
from backend.domain.model.export_request import Filters, check_form
from backend.domain.model.task import Difficulty
from backend.domain.model.trajectory_export import AgentKind, AttemptResult
from backend.domain.registry import PluginKind
from backend.services.export.counts import TrajectoryCounts, count

COMMAND = "deskarena export trajectories --out trajectories"
RESULT_WORDS = {
    AttemptResult.SOLVED: "score 1",
    AttemptResult.PARTIAL: "some score or a checkpoint",
    AttemptResult.UNSOLVED: "score 0",
}
KIND_WORDS = {
    AgentKind.HUMAN: "person",
    AgentKind.ORACLE: "replays the task's solution",
    AgentKind.MODEL: "agent with a model",
    AgentKind.HUMAN_ASSISTED: "agent with human help",
    AgentKind.OTHER: "scripts, replays, external programs",
}


@dataclass(frozen=True)
class FormChoice:
    """A form of training data."""

    name: str
    about: str
    table: bool


@dataclass(frozen=True)
class Choices:
    """All choices; lists contain only what was scored."""

    forms: Sequence[FormChoice]
    benchmarks: Sequence[str]
    domains: Sequence[str]
    levels: Sequence[str]
    agents: Sequence[str]
    difficulties: Sequence[str] = tuple(difficulty.value for difficulty in Difficulty)


@dataclass(frozen=True)
class ExportPage:
    """The page: choices, counts (None if the filters are invalid), and how to get the data."""

    choices: Choices
    counts: TrajectoryCounts | None
    command: str
    address: str


def exports(
    session: Session, project_id: UUID, filters: Filters | None, query: Sequence[tuple[str, str]]
) -> ExportPage:
    """The page for these filters.

    Args:
        session: only reads.
        project_id: whose episodes.
        filters: None if the input is invalid.
        query: parameters as for the API.
    """
    return ExportPage(
        choices=_choices(session, project_id),
        counts=None if filters is None else count(session, project_id, filters),
        command=command_of(query),
        address=f"{API}/trajectories/export?{urlencode([*query, ('archive', 'zip')])}",
    )


def check(query: Sequence[tuple[str, str]]) -> None:
    """Raises Invalid if the form is unknown, or has no table although one is requested."""
    values = dict(query)
    registry.load()
    name, file_format = values.get("form", "steps"), values.get("format", "jsonl")
    if name not in registry.names(PluginKind.TRAINING):
        raise Invalid(f"there is no export format {name[:80]!r}", code="unknown_format", path="form")
    check_form(name, file_format, registry.lookup(PluginKind.TRAINING, name).columns)


def command_of(query: Sequence[tuple[str, str]]) -> str:
    """The equivalent command."""
    words = [COMMAND]
    for name, value in query:
        option = f"--{name.replace('_', '-')}"
        if name == "any_result":
            words.append("--result any")
        else:
            words.append(option if value == "true" else f"{option} {shlex.quote(value)}")
    return " ".join(words)


def _choices(session: Session, project_id: UUID) -> Choices:
    registry.load()
    forms: Mapping[str, Any] = {
        name: registry.lookup(PluginKind.TRAINING, name) for name in registry.names(PluginKind.TRAINING)
    }
    rows = repository.choices(session, project_id)
    first = sorted(forms, key=lambda name: (forms[name].columns is None, name != "steps", name))
    return Choices(
        forms=[FormChoice(name, forms[name].about, forms[name].columns is not None) for name in first],
        benchmarks=sorted({row[0] for row in rows}),
        domains=sorted({row[1] for row in rows}),
        levels=sorted({row[2] for row in rows if row[2] is not None}),
        agents=sorted({row[3] for row in rows}),
    )
