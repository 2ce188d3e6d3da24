"""Boards and comparisons agree on which runs are alike."""

from itertools import combinations
from types import SimpleNamespace
from typing import Any

import pytest

from backend.db.models import Run
from backend.domain.model.run import RunConfig
from backend.services.results.conditions import conditions_of
from backend.services.results.configuration_differences import condition_differences

LEVELS = {"L1": 15, "L2": 25}
DIFFERENT: list[dict[str, Any]] = [
    {},
    {"budget": {"max_steps": 15}},
    {"budget": {"max_steps": 50}},
    {"budget": {"level_steps": LEVELS}},
    {"budget": {"level_steps": {**LEVELS, "L2": 40}}},
    {"budget": {"max_seconds": 60}},
    {"budget": {"max_tokens": 1000}},
    {"budget": {"max_usd": 0.5}},
    {"budget": {"max_invalid": 1}},
    {"screen": {"width": 1280, "height": 800}},
    {"provider": "qemu"},
    {"desktop_image": "windows"},
    {"variant": "language=cn"},
    {"perturbation": "moved"},
    {"settle": {"quiet": 1.0}},
    {"wait": {"timeout": 9.0}},
    {"judge": {"model": "m"}},
    {"judge": {"model": "m", "temperature": 0.3}},
]
EQUAL: list[tuple[dict[str, Any], dict[str, Any]]] = [
    ({}, RunConfig(agent="noop").model_dump(mode="json")),
    ({"budget": {"max_steps": 15}}, {"budget": {"max_steps": 15, "level_steps": LEVELS}}),
    ({}, {"budget": {"level_steps": {}}}),
    ({"seed": 1, "repeats": 3, "tasks": ["files/*"], "where": ["level=L1"]}, {"seed": 2}),
    ({"params": {"model": "a"}, "image": {"scale": 0.5}}, {"params": {"model": "b"}}),
]


def differ(first: dict[str, Any], second: dict[str, Any]) -> list[bool]:
    """By the board's key, by its words, and by a comparison."""
    both = [RunConfig.model_validate({"agent": "noop", **config}).model_dump(mode="json") for config in (first, second)]
    conditions = [conditions_of(config) for config in both]
    rows: list[Any] = [SimpleNamespace(Run=Run(config=config), version=1) for config in both]
    return [
        conditions[0].key != conditions[1].key,
        bool(conditions[0].differences(conditions[1])),
        bool(condition_differences(rows)),
    ]


def test_each_condition_makes_runs_unlike() -> None:
    for first, second in combinations(DIFFERENT, 2):
        assert differ(first, second) == [True] * 3, (first, second)


@pytest.mark.parametrize(("first", "second"), EQUAL)
def test_what_has_no_effect_does_not(first: dict[str, Any], second: dict[str, Any]) -> None:
    assert differ(first, second) == [False] * 3
