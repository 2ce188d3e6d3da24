"""The form that starts a run: a request from its texts with all problems, and its texts from an earlier run."""

import json
from collections.abc import Mapping, Sequence
from typing import Any
from uuid import UUID

from pydantic import ValidationError
from sqlalchemy.orm import Session

from backend.db.repositories.runs import runs_view as repository
from backend.domain.errors import Invalid, NotFound
from backend.domain.model.run import RunConfig, ScreenSize
from backend.domain.model.validation_words import sentence_of
from backend.services.capacity.run_request import RunRequest
from backend.services.read_model import FieldProblem
from backend.services.runs.views.new_run import Parameter

NUMBERS = ("repeats", "seed", "priority", "concurrency", "run_usd", "run_tokens", "run_desktop_hours")
BUDGET = ("max_steps", "max_seconds", "max_tokens", "max_usd")
CHOICES = ("variant", "preset", "observation", "action_space", "desktop_image")
JUDGE = ("endpoint", "model", "votes", "temperature")
OPTIONS = ("observation_params", "action_params", "image")
_OF_STUDIES = ("benchmark", "agent", "provider", "name", "preset", "repeats", "seed", "priority", "concurrency")
_OF_CELLS = ("observation", "action_space", *OPTIONS, "screen", "judge", "variant", "desktop_image", "budget")
"""Further fields of a run that a study's form has as JSON."""


def params_of(
    fields: Sequence[Parameter], texts: Mapping[str, str], problems: list[FieldProblem], path: str = "params"
) -> dict[str, Any]:
    """Typed parameters from a form's texts; an empty text keeps the default. Adds what is wrong.

    Args:
        fields: with their kinds.
        texts: by name.
        problems: what is wrong is added.
        path: of the parameters in the request.
    """
    params: dict[str, Any] = {}
    for field in fields:
        text = texts.get(field.name, "").strip()
        if field.kind == "boolean":
            params[field.name] = text in {"on", "true"}
        elif text:
            try:
                params[field.name] = _parse_field(field, text)
            except ValueError:
                words = {"integer": "a whole number", "number": "a number"}.get(field.kind, "JSON")
                problems.append(FieldProblem(path=f"{path}.{field.name}", message=f"Enter {words}."))
    return params


def _parse_field(field: Parameter, text: str) -> Any:
    match field.kind:
        case "integer":
            return int(text)
        case "number":
            return float(text)
        case "json":
            return json.loads(text)
        case _:
            return text


def options_of(path: str, text: str, problems: list[FieldProblem]) -> dict[str, Any]:
    """An object from a form's text. Adds what is wrong."""
    try:
        options = json.loads(text)
    except ValueError as error:
        problems.append(FieldProblem(path=path, message=f"Enter JSON: {error}."))
        return {}
    if not isinstance(options, dict):
        problems.append(FieldProblem(path=path, message='Enter a JSON object, for example {"scale": 0.5}.'))
        return {}
    return options


def request_of(values: Mapping[str, Any], problems: list[FieldProblem]) -> RunRequest | None:
    """The request from a form's values; None, with all problems, if it is invalid."""
    try:
        return RunRequest.model_validate(values)
    except ValidationError as error:
        problems += validation_problems(error)
    except Invalid as error:
        problems.append(FieldProblem(path=error.path, message=error.text_at_field))
    return None


def validation_problems(error: ValidationError) -> list[FieldProblem]:
    """Everything that is wrong with a request, in the page's words."""
    return [
        FieldProblem(path=".".join(map(str, problem["loc"])), message=sentence_of(problem))
        for problem in error.errors(include_url=False)
    ]


def form_of(session: Session, run_id: UUID) -> list[tuple[str, str]]:
    """Fields of the form that starts such a run again. Raises NotFound."""
    row = repository.run(session, run_id)
    if row is None:
        raise NotFound("Run not found.", code="run_not_found", hint="The list of runs is at /runs.")
    config = RunConfig.model_validate(row.Run.config)
    values: dict[str, Any] = {
        "benchmark": row.benchmark,
        "agent": config.agent,
        "provider": config.provider,
        "name": row.Run.name,
        "priority": row.Run.priority or None,
        "concurrency": row.Run.concurrency,
        **{name: getattr(row.Run, name) for name in ("run_usd", "run_tokens", "run_desktop_hours")},
        **{name: getattr(config, name) for name in (*CHOICES, "repeats", "seed")},
        **{name: getattr(config.budget, name) for name in BUDGET},
        "screen": None if config.screen == ScreenSize() else f"{config.screen.width}x{config.screen.height}",
    }
    if config.judge is not None:
        values |= {f"judge_{name}": getattr(config.judge, name) for name in JUDGE}
    fields = [(name, _text(value)) for name, value in values.items() if value not in {None, ""}]
    fields += [("tasks", pattern) for pattern in config.tasks]
    fields += [("where", condition) for condition in config.where]
    for option in OPTIONS:
        for name, value in _options(getattr(config, option)).items():
            fields += _param(f"{option}.{name}", value)
    for name, value in config.params.items():
        fields += _param(f"p.{config.agent}.{name}", value)
    return fields


def study_form_of(values: Mapping[str, Any]) -> list[tuple[str, str]]:
    """Fields of the form for a study whose base cell has a run form's values."""
    fields = {name: values[name] for name in _OF_STUDIES if values.get(name)}
    fields |= {name: "\n".join(values[name]) for name in ("tasks", "where") if values.get(name)}
    others = {name: values[name] for name in _OF_CELLS if values.get(name)}
    if set(values.get("budget", ())) == {"max_steps"}:
        fields |= values["budget"]
        del others["budget"]
    fields |= {name: json.dumps(value) for name, value in (("params", values.get("params")), ("more", others)) if value}
    return [(name, _text(value)) for name, value in fields.items()]


def _param(name: str, value: Any) -> list[tuple[str, str]]:
    if isinstance(value, bool):
        return [(f"{name}.shown", "1"), *([(name, "on")] if value else [])]
    return [] if value in ({}, [], None, "") else [(name, _text(value))]


def _text(value: Any) -> str:
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False, default=str)


def _options(value: Any) -> dict[str, Any]:
    """Options by name; empty without any."""
    return dict(value.model_dump(mode="json", exclude_defaults=True) if hasattr(value, "model_dump") else value or {})
