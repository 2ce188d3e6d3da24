"""Form that starts a run: choices, and the request from submitted values."""

import json
from collections.abc import Hashable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import benchmarks as benchmark_repository
from backend.db.repositories.runs import new_run_view as repository
from backend.domain.errors import Invalid
from backend.domain.model.presets import PRESETS
from backend.domain.model.reason import Reason
from backend.domain.model.task import UNLABELLED
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.labels import LabelCounts, label_counts
from backend.services.benchmarks.variants import known_variants
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.views.capabilities import AgentView, RunOptions, abilities
from backend.services.capacity.worker_capabilities import needs_of


@dataclass(frozen=True)
class Parameter:
    """One field of an agent's parameters, from its JSON schema.

    Attributes:
        kind: text, integer, number, boolean, choice or json.
        low, high: bounds, if the schema has them.
    """

    name: str
    label: str
    kind: str
    help: str
    default: str
    required: bool
    choices: tuple[str, ...]
    low: float | None
    high: float | None


@dataclass(frozen=True)
class TaskChoice:
    """A task that can be selected."""

    key: str
    name: str
    instruction: str
    difficulty: str
    why_not: Reason | None


@dataclass(frozen=True)
class NewRun:
    """Choices of the form; `judged`: number of tasks that need a judge."""

    benchmarks: list[tuple[str, str]]
    benchmark: str
    agents: list[tuple[AgentView, list[Parameter]]]
    able: RunOptions
    domains: Mapping[str, list[TaskChoice]]
    selections: Mapping[str, int]
    variants: Mapping[str, int]
    presets: Mapping[str, str]
    labels: LabelCounts
    judged: int = 0

    @property
    def tasks(self) -> int:
        """Tasks of the chosen benchmark."""
        return sum(len(tasks) for tasks in self.domains.values())


def new_run(session: Session, benchmark: str, provider: str, image: str = "") -> NewRun:
    """The form for a benchmark (default: the first), with what can run on that provider's image."""
    known = [(row.name, row.title or row.name) for row in benchmark_repository.all_of(session, None)]
    names = [name for name, _ in known]
    chosen = benchmark if benchmark in names else (names[0] if names else "")
    able = abilities(session)
    return NewRun(
        benchmarks=known,
        benchmark=chosen,
        agents=[(agent, parameters(agent.schema)) for agent in able.agents],
        able=able,
        domains=_domains(session, chosen, (provider, image or None), able) if chosen else {},
        selections=_selections(session, chosen) if chosen else {},
        variants=known_variants(session, latest_task_set(session, chosen).id) if chosen else {},
        presets={name: preset.about for name, preset in PRESETS.items()},
        labels=label_counts(latest_task_set(session, chosen)) if chosen else {},
        judged=repository.judged(session, latest_task_set(session, chosen).id) if chosen else 0,
    )


def _selections(session: Session, benchmark: str) -> dict[str, int]:
    """Tasks of each named selection."""
    selections = parts.selections(session, latest_task_set(session, benchmark).id)
    return {name: len(keys) for name, keys in selections.items()}


def _domains(
    session: Session, benchmark: str, machine: tuple[str, str | None], able: RunOptions
) -> dict[str, list[TaskChoice]]:
    by_domain: dict[str, list[TaskChoice]] = {}
    lacks: dict[Hashable, Reason | None] = {}
    for task in repository.tasks(session, latest_task_set(session, benchmark).id):
        needs = needs_of(task)
        if needs not in lacks:
            lacks[needs] = able.why_not(machine[0], task, machine[1])
        choice = TaskChoice(
            key=task.key,
            name=task.name,
            instruction=task.instruction,
            difficulty=task.difficulty or UNLABELLED,
            why_not=lacks[needs],
        )
        by_domain.setdefault(task.domain, []).append(choice)
    return by_domain


def parameters(schema: Mapping[str, Any]) -> list[Parameter]:
    """The fields of a pydantic model's JSON schema."""
    required = set(schema.get("required") or ())
    return [
        _parameter(name, _resolved(field, schema), required=name in required)
        for name, field in (schema.get("properties") or {}).items()
    ]


def _resolved(field: Mapping[str, Any], schema: Mapping[str, Any]) -> dict[str, Any]:
    """A field with its reference resolved and its `null` alternative removed."""
    merged = dict(field)
    if "$ref" in merged:
        name = str(merged.pop("$ref")).rpartition("/")[2]
        merged = {**(schema.get("$defs") or {}).get(name, {}), **merged}
    options = [option for option in merged.get("anyOf") or () if option.get("type") != "null"]
    if len(options) == 1:
        merged = {**_resolved(options[0], schema), **merged}
    return merged


def _parameter(name: str, field: Mapping[str, Any], *, required: bool) -> Parameter:
    kind = {"integer": "integer", "number": "number", "boolean": "boolean", "string": "text"}.get(
        str(field.get("type")), "json"
    )
    default = field.get("default")
    return Parameter(
        name=name,
        label=name.replace("_", " "),
        kind="choice" if field.get("enum") else kind,
        help=str(field.get("description") or ""),
        default="" if default is None else default if isinstance(default, str) else json.dumps(default),
        required=required,
        choices=tuple(str(choice) for choice in field.get("enum") or ()),
        low=field.get("minimum", field.get("exclusiveMinimum")),
        high=field.get("maximum", field.get("exclusiveMaximum")),
    )


def params_of(fields: Sequence[Parameter], texts: Mapping[str, str]) -> dict[str, Any]:
    """Typed parameters from a form's texts; an empty text keeps the agent's default. Raises Invalid."""
    params: dict[str, Any] = {}
    for field in fields:
        text = texts.get(field.name, "").strip()
        if field.kind == "boolean":
            params[field.name] = text in {"on", "true"}
        elif text:
            params[field.name] = _typed(field, text)
    return params


def _typed(field: Parameter, text: str) -> Any:
    if field.kind in {"text", "choice"}:
        return text
    try:
        return int(text) if field.kind == "integer" else float(text) if field.kind == "number" else json.loads(text)
    except ValueError as error:
        raise Invalid(
            f"{text[:60]!r} is not a valid {field.kind}", code="invalid_request", path=f"params.{field.name}"
        ) from error


def options_of(path: str, text: str) -> dict[str, Any]:
    """An object from a form's text. Raises Invalid."""
    try:
        options = json.loads(text)
    except ValueError as error:
        raise Invalid(f"expected JSON, {error}", code="invalid_request", path=path) from error
    if not isinstance(options, dict):
        raise Invalid("expected a JSON object", code="invalid_request", path=path, hint='For example {"scale": 0.5}.')
    return options


def request_of(values: Mapping[str, Any]) -> RunRequest:
    """The request from a form's values. Raises Invalid with the field's path."""
    try:
        return RunRequest.model_validate(values)
    except ValidationError as error:
        first = error.errors(include_url=False)[0]
        raise Invalid(
            first["msg"], code="invalid_request", path=".".join(str(part) for part in first["loc"])
        ) from error
