"""Runs with seeded outcomes for the papers' tables, and means that tests compute from these outcomes."""

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any
from uuid import UUID

import pytest

from backend.domain.model.score import Evaluation
from backend.domain.model.task import EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, Task, TaskKey
from backend.services.results.views.paper_tables import PaperRow, PaperTableView, PaperView, paper_view
from tests.factories.measured import finish
from tests.factories.records import World
from tests.factories.scene import OneTransaction
from tests.sampling import seed

Spec = dict[str, Any]
Outcomes = Mapping[str, Mapping[str, float]]
"""Score and measures by the task's name."""


def task_of(kind: str, name: str, spec: Spec) -> Task:
    """A task with the facts that its importer would give it."""
    infeasible = spec.get("level") == "L4" or spec.get("infeasible", False)
    call = MetricCall(func="infeasible") if infeasible else MetricCall(func="exact_match", result={"type": "vm_file"})
    return Task(
        key=TaskKey(domain=spec.get("domain", "all"), name=name),
        dialect=kind,
        instruction=f"Do {name}.",
        evaluator=EvaluatorSpec(calls=(call,), protocol=kind if kind in {"omnibench", "windowsworld"} else ""),
        labels=Labels(
            feasible=not infeasible,
            level=spec.get("level"),
            difficulty=spec.get("difficulty"),
            difficulty_source="author" if spec.get("difficulty") else None,
            apps=tuple(spec.get("apps", ())),
            os=spec.get("os", "linux"),
            extra=spec.get("extra", {}),
        ),
    )


def played(world: World, kind: str, specs: Sequence[Spec], name: str = "", **more: Any) -> tuple[UUID, Outcomes]:
    """A run over these tasks: fractional scores, a measure or two, now and then a loss."""
    draw = random.Random(f"{seed()} {kind} {name}{more.get('seed', '')}")  # noqa: S311 - a sample
    outcomes: dict[str, dict[str, float]] = {}
    tasks = tuple(task_of(kind, f"t{at:02}", spec) for at, spec in enumerate(specs))
    with world.work() as session:
        transaction = OneTransaction(world.factory, world.store, session)
        transaction.benchmark(LoadedBenchmark(kind=kind, suite=kind, tasks=tasks), name=name or kind)
        worker, run = transaction.worker(slots=1), transaction.submit("random", name or kind, **more)
        while (claim := transaction.claim(worker)) is not None:
            measures = {"score": draw.choice([0.0, 0.25, 0.5, 1.0])}
            if kind == "omnibench":
                most = specs[int(claim.task.key.name[1:])].get("most", 1.0)
                measures |= {"CR": most * draw.random(), "LC": draw.random()}
            if kind == "windowsworld":
                measures["S_final"] = measures["score"]
                measures |= {"S_int": draw.random()} if claim.task.labels.level != "L4" else {}
            outcomes[claim.task.key.name] = measures
            finish(transaction, claim, Evaluation(score=measures["score"], measures=measures), steps=1)
    world.roll_up()
    return run.id, outcomes


def view_of(world: World, benchmark: str) -> PaperView:
    view: PaperView = world.do(paper_view, benchmark)
    return view


def table_of(view: PaperView, name: str) -> PaperTableView:
    (table,) = [table for table in view.tables if table.name == name]
    return table


def own_values(table: PaperTableView, row: PaperRow) -> dict[str, float | None]:
    """Percent by column."""
    return {
        title: None if cell is None else float(cell.text) for title, cell in zip(table.columns, row.cells, strict=True)
    }


def mean_where(
    specs: Sequence[Spec], outcomes: Outcomes, fits: Callable[[Spec], bool], measure: str = "score"
) -> float | None:
    """Percent, from the outcomes alone."""
    values = [outcomes[f"t{at:02}"].get(measure) for at, spec in enumerate(specs) if fits(spec)]
    present = [value for value in values if value is not None]
    return 100 * fmean(present) if present else None


def same(values: Mapping[str, float | None], expected: Mapping[str, float | None]) -> None:
    assert list(values) == list(expected)
    for title, value in expected.items():
        assert values[title] == (None if value is None else pytest.approx(value, abs=0.0501)), title
