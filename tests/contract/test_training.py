"""Rules that hold for every form of training data."""

import json
from typing import Any

import pytest

from backend.domain import registry
from backend.domain.model.trajectory_export import ExportedAttempt
from backend.domain.ports.training import WORDS, Column, TrainingForm
from backend.domain.registry import PluginKind
from tests.factories.recorded import click, recorded, step, task

registry.load()
EACH = pytest.mark.parametrize("name", sorted(name for _, name in registry.entries(PluginKind.TRAINING)))
GRAPH: dict[str, tuple[str, ...]] = {"a": (), "b": ("a",)}
CASES = {
    "plain": recorded(),
    "of a graph": recorded(task=task(GRAPH), reached={"a": 0, "b": 1}),
    "half of a graph": recorded(task=task(GRAPH), reached={"a": 0, "b": None}, score=0.5),
    "nothing done": recorded(step(0, final=True), score=0.0),
    "without pictures": recorded(step(0, click(), frame=None)),
}
OF = pytest.mark.parametrize("case", CASES)


def form(name: str) -> TrainingForm:
    made: TrainingForm = registry.lookup(PluginKind.TRAINING, name)()
    return made


def named(value: Any) -> set[str]:
    """Every text in a row that looks like the path of a picture."""
    if isinstance(value, dict):
        return {found for inner in value.values() for found in named(inner)}
    if isinstance(value, list):
        return {found for inner in value for found in named(inner)}
    return {value} if isinstance(value, str) and value.startswith("images/") else set()


def fits(value: Any, column: Column) -> bool:
    """The value is of the column's type; None fits all."""
    if value is None or column == "json":
        return True
    if isinstance(column, list):
        return isinstance(value, list) and all(fits(inner, column[0]) for inner in value)
    if isinstance(column, dict):
        return set(value) <= set(column) and all(fits(value.get(key), inner) for key, inner in column.items())
    types: dict[str, Any] = {"text": str, "integer": int, "number": (int, float), "flag": bool}
    return isinstance(value, types[column])


def words(column: Column) -> set[str]:
    if isinstance(column, list):
        return words(column[0])
    if isinstance(column, dict):
        return {word for inner in column.values() for word in words(inner)}
    return {column}


def written(name: str, made: ExportedAttempt) -> list[Any]:
    found = form(name)
    return [] if found.refuses(made) else list(found.rows(made))


@EACH
class TestForm:
    def test_says_what_it_is(self, name: str) -> None:
        assert form(name).about.endswith(".")

    def test_columns_have_known_types(self, name: str) -> None:
        assert words(dict(form(name).columns or {})) <= WORDS

    @OF
    def test_rows_are_json_and_repeat(self, name: str, case: str) -> None:
        rows = written(name, CASES[case])
        assert json.loads(json.dumps(rows)) == rows
        assert rows == written(name, CASES[case])

    @OF
    def test_rows_fit_the_columns(self, name: str, case: str) -> None:
        columns = form(name).columns
        for row in written(name, CASES[case]) if columns else ():
            assert list(row) == list(columns or ())
            assert fits(row, dict(columns or {}))

    @OF
    def test_its_pictures_are_those_that_its_rows_name(self, name: str, case: str) -> None:
        rows = written(name, CASES[case])
        pictures = {picture.path for picture in form(name).pictures(CASES[case])} if rows else set()
        assert named(rows) == pictures

    def test_every_accepted_trajectory_is_written(self, name: str) -> None:
        assert written(name, CASES["of a graph"])
