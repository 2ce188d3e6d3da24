"""Differences between runs: conditions, which decide whether they can be compared, and configurations."""

import difflib
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from pydantic import Field

from backend.db.models import Run
from backend.db.models.enums import Origin
from backend.db.repositories.common_queries import AnyRow
from backend.domain.model.run import RunConfig
from backend.services.read_model import ReadModel

CONDITIONS = (
    "provider", "desktop_image", "screen", "variant", "perturbation", "budget", "settle", "wait", "judge",
)  # fmt: skip
"""Fields of a run that decide a score besides who acts. With the version of the tasks they are its conditions."""
CONFIGURATION = (
    "agent", "params", "observation", "observation_params", "action_space", "action_params", "image", "preset",
)  # fmt: skip
"""Fields of a run that say who acts."""
UNKNOWN = "unknown"
PINS = ("code", "prompts", "model")
"""Further parts of an agent's definition, as they were when the run was submitted."""


class FieldDifference(ReadModel):
    """A field that is not equal in all compared runs."""

    name: str = Field(examples=["budget.max_steps"])
    values: list[Any] = Field(description="Its value in each run, in their order.", examples=[[15, 50]])
    diff: list[list[str]] = Field(
        default=[], description="Of texts of several lines: lines of the unified diff of each further run to the first."
    )


def condition_differences(rows: Sequence[AnyRow]) -> list[FieldDifference]:
    """Differing conditions, the version of the tasks first.

    Args:
        rows: of `repositories.common_queries.run_columns`.
    """
    versions = {"task_set.version": [row.version for row in rows]}
    return _differences([_config(row.Run, CONDITIONS) for row in rows], versions)


def configuration_differences(rows: Sequence[AnyRow]) -> list[FieldDifference]:
    """Parameters, prompts, models and code that differ.

    Args:
        rows: of `repositories.common_queries.run_columns`.
    """
    fields = [{**_config(row.Run, CONFIGURATION), **{name: row.Run.pins.get(name) for name in PINS}} for row in rows]
    return _differences(fields, {})


def effective_budget(budget: Mapping[str, Any]) -> dict[str, Any]:
    """A budget without steps by level where one number holds for all tasks, or where there are none."""
    levels = None if budget["max_steps"] else budget["level_steps"] or None
    return {**budget, "level_steps": levels}


def _config(run: Run, names: Sequence[str]) -> dict[str, Any]:
    """The run's settings with the defaults of those that it left open; of imported results, these are `UNKNOWN`."""
    values = RunConfig.model_validate(run.config).model_dump(mode="json")
    values["budget"] = effective_budget(values["budget"])
    if run.origin == Origin.OUTSIDE:
        values |= {name: _with_defaults(values[name], run.config.get(name, ...)) for name in CONDITIONS}
    return {name: values[name] for name in names}


def _with_defaults(value: Any, stored: Any) -> Any:
    """A field with its defaults, those that are not stored replaced."""
    if isinstance(value, Mapping):
        stored = stored if isinstance(stored, Mapping) else {}
        return {name: _with_defaults(item, stored.get(name, ...)) for name, item in value.items()}
    return UNKNOWN if stored is ... else value


def _differences(runs: Sequence[Mapping[str, Any]], first: Mapping[str, list[Any]]) -> list[FieldDifference]:
    flat = [dict(_leaves("", fields)) for fields in runs]
    columns = {**first, **{name: [mapping.get(name) for mapping in flat] for name in dict.fromkeys(_names(flat))}}
    return [
        FieldDifference(name=name, values=values, diff=_diffs(values))
        for name, values in columns.items()
        if any(value != values[0] for value in values)
    ]


def _names(flat: Sequence[Mapping[str, Any]]) -> Iterator[str]:
    for mapping in flat:
        yield from mapping


def _leaves(path: str, value: Any) -> Iterator[tuple[str, Any]]:
    """Dotted paths of the innermost fields, with their values."""
    if not isinstance(value, Mapping):
        yield path, value
        return
    for name, inner in value.items():
        yield from _leaves(f"{path}.{name}" if path else str(name), inner)


def _diffs(values: Sequence[Any]) -> list[list[str]]:
    """Unified diffs of texts to the first one; none unless one has several lines."""
    if not all(isinstance(value, str) for value in values) or not any("\n" in value for value in values):
        return []
    return [
        list(difflib.unified_diff(values[0].splitlines(), value.splitlines(), lineterm="", n=2)) for value in values[1:]
    ]
