"""Selection of tasks by their labels: `level=L3`, `feasible=no`."""

import re
from collections.abc import Iterable, Mapping, Sequence

from backend.domain.errors import Invalid
from backend.domain.model.omnibench_labels import CAPABILITIES
from backend.domain.model.task import DIFFICULTIES, UNLABELLED

NUMBER = re.compile(r"^\d{1,9}(\.\d{1,9})?$")
LABEL_NAME = re.compile(r"^[a-z][a-z0-9_.]{0,49}$")
CONDITION = r"^[a-z][a-z0-9_.]{0,49}=.{1,60}$"
"""One condition, as requests and addresses have it."""
MOST_VALUES = 60
"""A label with more values identifies tasks and is not offered as a cut."""
TWIN = "twin"
"""Label with the key of the same task on another system: it identifies tasks."""
TaskLabelValues = Mapping[str, Sequence[str]]
"""A task's labels: names with their values."""


def label_filter(conditions: Iterable[str]) -> dict[str, list[str]]:
    """Accepted values by label. Several values of one label are alternatives; all labels must match.

    Raises:
        Invalid: a condition is not `label=value`; `path` names it.
    """
    values: dict[str, list[str]] = {}
    for position, condition in enumerate(conditions):
        if not re.match(CONDITION, condition):
            raise Invalid(
                f"{condition[:100]!r} is not label=value",
                code="invalid_label_condition",
                path=f"where.{position}",
                hint="For example level=L3 or feasible=no.",
            )
        name, _, value = condition.partition("=")
        values.setdefault(name, []).append(value)
    return values


def cut_labels(labels: Iterable[TaskLabelValues]) -> list[str]:
    """Names of labels with few enough values to cut results by; sorted."""
    values: dict[str, set[str]] = {}
    for label in labels:
        for name, texts in label.items():
            values.setdefault(name, set()).update(texts)
    return sorted(name for name, texts in values.items() if len(texts) <= MOST_VALUES and name != TWIN)


def matches(labels: TaskLabelValues, conditions: Mapping[str, Sequence[str]]) -> bool:
    """Whether a task with these labels passes a filter. A task without a label is `unlabelled`."""
    return all(set(labels.get(name, [UNLABELLED])) & set(values) for name, values in conditions.items())


_EASY_FIRST = {name: index for index, name in enumerate(DIFFICULTIES)}
_CAPABILITIES = {name: index for index, name in enumerate(CAPABILITIES)}


def order_values(values: Iterable[str]) -> list[str]:
    """Values of a label in the order of tables: difficulties by difficulty, capabilities as in the paper, numbers."""
    return sorted(values, key=_place)


def _place(value: str) -> tuple[int, float, str]:
    if value in _EASY_FIRST:
        return 0, _EASY_FIRST[value], value
    if value in _CAPABILITIES:
        return 1, _CAPABILITIES[value], value
    return (2, float(value), value) if NUMBER.match(value) else (3, 0.0, value)
