"""The papers' tables from runs with seeded outcomes, against means that the tests compute from these outcomes."""

import random
from collections.abc import Callable, Mapping, Sequence
from statistics import fmean
from typing import Any
from uuid import UUID

import pytest

from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Difficulty, EvaluatorSpec, Labels, LoadedBenchmark, MetricCall, Task, TaskKey
from backend.services.results.views.paper_tables import PaperRow, PaperTableView, PaperView, paper_view
from backend.services.results.views.twins import twin_table
from tests.factories.measured import finish
from tests.factories.records import World
from tests.factories.scene import OneTransaction
from tests.sampling import seed

Spec = dict[str, Any]
Outcomes = Mapping[str, Mapping[str, float]]
"""Score and measures by the task's name."""
LEVELS = [level.value for level in Difficulty]
GROUPS = ("Office", "Web", "Windows System", "Coding", "Media", "Windows Utilities")
OSWORLD_DOMAINS = {"os": "OS", "libreoffice_calc": "Office", "vlc": "Daily", "gimp": "Professional",
                   "multi_apps": "Workflow"}  # fmt: skip
PERSONAS = ("Designer", "General User", "HR Specialist")
AXES = ("dependency", "branch", "instruction", "knowledge", "hierarchy")


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
    draw = random.Random(f"{seed()} {kind} {name}")  # noqa: S311 - a sample
    outcomes: dict[str, dict[str, float]] = {}
    tasks = tuple(task_of(kind, f"t{at:02}", spec) for at, spec in enumerate(specs))
    with world.work() as session:
        here = OneTransaction(world.factory, world.store, session)
        here.benchmark(LoadedBenchmark(kind=kind, suite=kind, tasks=tasks), name=name or kind)
        worker, run = here.worker(slots=1), here.submit("random", name or kind, **more)
        while (claim := here.claim(worker)) is not None:
            measures = {"score": draw.choice([0.0, 0.25, 0.5, 1.0])}
            if kind == "omnibench":
                measures |= {"CR": draw.random(), "LC": draw.random()}
            if kind == "windowsworld":
                measures["S_final"] = measures["score"]
                measures |= {"S_int": draw.random()} if claim.task.labels.level != "L4" else {}
            outcomes[claim.task.key.name] = measures
            finish(here, claim, Evaluation(score=measures["score"], measures=measures), steps=1)
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


class TestWAA:
    def test_table_3(self, installation: World) -> None:
        specs: list[Spec] = [{"extra": {"group": GROUPS[at % 6]}, "os": "linux"} for at in range(21)]
        run, outcomes = played(installation, "waa", specs)
        table = table_of(view_of(installation, "waa"), "waa-3")
        assert [row.agent for row in table.published][:2] == ["Navi (Phi3-V)", "Navi (GPT-4o-mini)"]
        assert table.published[-1].agent == "Human"
        assert [cell and cell.text for cell in table.published[0].cells] == [
            "0",
            "0",
            "4.2",
            "4.3",
            "0.0",
            "0.0",
            "1.3",
        ]
        (row,) = table.own
        assert row.run_id == run
        assert [reason.code for reason in row.reasons] == ["reference"]
        titles = ("Office", "Web Browser", "Windows System", "Coding", "Media & Video", "Windows Utils")
        expected = {
            title: mean_where(specs, outcomes, lambda spec, group=group: spec["extra"]["group"] == group)  # type: ignore[misc]
            for title, group in zip(titles, GROUPS, strict=True)
        }
        same(own_values(table, row), {**expected, "Total": mean_where(specs, outcomes, lambda _: True)})
        assert [cell.tasks for cell in row.cells if cell] == [4, 4, 4, 3, 3, 3, 21]

    def test_table_6(self, installation: World) -> None:
        domains = {"libreoffice_calc": "Office", "vlc": "Media", "msedge": "Web", "chrome": "Web"}
        specs: list[Spec] = [
            {"domain": list(domains)[at % 4], "extra": {"group": list(domains.values())[at % 4]}} for at in range(8)
        ]
        _, outcomes = played(installation, "waa", specs)
        table = table_of(view_of(installation, "waa"), "waa-6")
        steps, rates = table.own
        expected = dict.fromkeys(table.columns)
        expected |= {
            "LibreOffice Calc": mean_where(specs, outcomes, lambda spec: spec["domain"] == "libreoffice_calc"),
            "VLC Player": mean_where(specs, outcomes, lambda spec: spec["domain"] == "vlc"),
            "Web Browsing": mean_where(specs, outcomes, lambda spec: spec["domain"] in {"msedge", "chrome"}),
            "Overall": mean_where(specs, outcomes, lambda _: True),
        }
        same(own_values(table, rates), expected)
        assert {cell.text for cell in steps.cells if cell} == {"1.0"}
        assert [row.measure for row in table.published] == ["steps", "success rate", "difficulty"]


class TestOSWorld:
    SPECS: Sequence[Spec] = [
        {
            "domain": list(OSWORLD_DOMAINS)[at % 5],
            "extra": {"group": list(OSWORLD_DOMAINS.values())[at % 5]},
            "difficulty": LEVELS[at % 3],
            "infeasible": at % 7 == 0,
            # Two applications make no workflow: the paper counts by domain.
            "apps": ("os", "chrome") if at % 4 == 0 else ("os",),
        }
        for at in range(24)
    ]

    def test_tables_5_6_and_14(self, installation: World) -> None:
        _, outcomes = played(installation, "osworld", self.SPECS)
        view = view_of(installation, "osworld")

        def mean(fits: Callable[[Spec], bool]) -> float | None:
            return mean_where(self.SPECS, outcomes, fits)

        five = table_of(view, "osworld-5")
        expected = {name: mean(lambda spec, name=name: spec["extra"]["group"] == name)  # type: ignore[misc]
                    for name in OSWORLD_DOMAINS.values()}  # fmt: skip
        same(own_values(five, five.own[0]), {**expected, "Overall": mean(lambda _: True)})
        assert (five.published[0].agent, five.published[0].inputs) == ("Mixtral-8x7B", "A11y tree")

        six = table_of(view, "osworld-6")
        subsets: dict[str, Callable[[Spec], bool]] = {
            "Easy": lambda spec: spec["difficulty"] == "easy",
            "Medium": lambda spec: spec["difficulty"] == "medium",
            "Hard": lambda spec: spec["difficulty"] == "hard",
            "Infeasible": lambda spec: spec["infeasible"],
            "Feasible": lambda spec: not spec["infeasible"],
            "Single-App": lambda spec: spec["domain"] != "multi_apps",
            "Multi-App Workflow": lambda spec: spec["domain"] == "multi_apps",
        }
        shares, rates = six.own
        same(own_values(six, rates), {title: mean(fits) for title, fits in subsets.items()})
        numbers = {title: sum(map(fits, self.SPECS)) for title, fits in subsets.items()}
        same(own_values(six, shares), {title: 100 * number / 24 for title, number in numbers.items()})
        assert [cell and cell.text for cell in six.published[0].cells][:2] == ["28.72", "40.11"]

        fourteen = table_of(view, "osworld-14")
        values = own_values(fourteen, fourteen.own[0])
        assert values["Chrome"] is None
        assert values["GIMP"] == pytest.approx(mean(lambda spec: spec["domain"] == "gimp"), abs=0.0501)


class TestOmniBench:
    SPECS: Sequence[Spec] = [
        {
            "extra": {
                "capability": list(CAPABILITIES)[at % 10],
                "capabilities": list(CAPABILITIES),
                "complexity": {axis: LEVELS[(at + place) % 3] for place, axis in enumerate(COMPLEXITIES)},
                "graph": {"branch": 1 + at % 2},
            }
        }
        for at in range(20)
    ]

    def test_tables_4_and_5_and_the_structures(self, installation: World) -> None:
        _, outcomes = played(installation, "omnibench", self.SPECS)
        view = view_of(installation, "omnibench")

        def mean(fits: Callable[[Spec], bool], measure: str = "CR") -> float | None:
            return mean_where(self.SPECS, outcomes, fits, measure)

        four = table_of(view, "omnibench-4")
        (row,) = four.own
        # Every set has two tasks here, so that the mean of the sets' means is the mean of all.
        expected = {"Overall CR": mean(lambda _: True), "Overall LC": mean(lambda _: True, "LC")}
        letters = {title: name for name, title in CAPABILITIES.items()}
        for title in four.columns[2:]:
            expected[title] = mean(lambda spec, title=title: spec["extra"]["capability"] == letters[title])  # type: ignore[misc]
        same(own_values(four, row), expected)
        assert [cell and cell.text for cell in four.published[0].cells][:3] == ["80.1", "92.8", "80.1"]

        five = table_of(view, "omnibench-5")
        cells = [float(cell.text) for cell in five.own[0].cells if cell]
        wanted = [
            mean(lambda spec, axis=axis, level=level: spec["extra"]["complexity"][axis] == level)  # type: ignore[misc]
            for axis in AXES
            for level in LEVELS
        ]
        assert cells == [pytest.approx(value, abs=0.0501) for value in wanted]
        assert [span for _, span in five.heads] == [3] * 5

        structures = table_of(view, "omnibench-structure")
        expected = {
            "chain-structured tasks": mean(lambda spec: spec["extra"]["graph"]["branch"] == 1),
            "graph-structured tasks": mean(lambda spec: spec["extra"]["graph"]["branch"] == 2),
        }
        same(own_values(structures, structures.own[0]), expected)


class TestWindowsWorld:
    SPECS: Sequence[Spec] = [
        {
            "level": f"L{1 + at % 4}",
            "extra": {"persona": PERSONAS[at % 3]},
            "apps": ("word", "excel", "outlook")[: 1 + at % 3],
        }
        for at in range(24)
    ]

    def test_levels_personas_and_numbers_of_applications(self, installation: World) -> None:
        _, outcomes = played(installation, "windowsworld", self.SPECS)
        view = view_of(installation, "windowsworld")
        cuts: dict[str, dict[str, Callable[[Spec], bool]]] = {
            "windowsworld-levels": {
                **{f"L{at}": lambda spec, at=at: spec["level"] == f"L{at}" for at in (1, 2, 3, 4)},  # type: ignore[misc]
                "Overall": lambda _: True,
            },
            "windowsworld-personas": {
                **{name: lambda spec, name=name: spec["extra"]["persona"] == name for name in PERSONAS},  # type: ignore[misc]
                "Overall": lambda _: True,
            },
            "windowsworld-applications": {
                **{str(at): lambda spec, at=at: len(spec["apps"]) == at for at in (1, 2, 3)},  # type: ignore[misc]
                "Overall": lambda _: True,
            },
        }
        for name, columns in cuts.items():
            table = table_of(view, name)
            assert [row.measure for row in table.own] == ["S_int", "S_final"]
            for row in table.own:
                expected = {
                    title: mean_where(self.SPECS, outcomes, fits, row.measure) for title, fits in columns.items()
                }
                same(own_values(table, row), expected)
        assert table_of(view, "windowsworld-levels").own[0].cells[3] is None


class TestProSoftArena:
    def test_levels_disciplines_and_software(self, installation: World) -> None:
        fields = ("Art & Design", "Business")
        specs: list[Spec] = [
            {
                "level": f"L{1 + at % 3}",
                "extra": {
                    "discipline": fields[at % 2],
                    "software": [{"name": name} for name in (("Excel", "Word") if at % 4 == 0 else ("Photoshop",))],
                },
            }
            for at in range(12)
        ]
        _, outcomes = played(installation, "prosoftarena", specs)
        view = view_of(installation, "prosoftarena")
        software = table_of(view, "prosoftarena-software")

        def has(name: str) -> Callable[[Spec], bool]:
            return lambda spec: {"name": name} in spec["extra"]["software"]

        expected = {name: mean_where(specs, outcomes, has(name)) for name in ("Excel", "Photoshop", "Word")}
        same(
            own_values(software, software.own[0]), {**expected, "Overall": mean_where(specs, outcomes, lambda _: True)}
        )
        levels = table_of(view, "prosoftarena-levels")
        assert levels.columns == ["L1", "L2", "L3", "Overall"]
        assert table_of(view, "prosoftarena-disciplines").columns == [*fields, "Overall"]


class TestTwins:
    def test_pairs_one_configurations_runs_and_correlates_them(self, installation: World) -> None:
        ubuntu: list[Spec] = [{"domain": "libreoffice_calc"} for _ in range(8)]
        windows: list[Spec] = [{"domain": "excel", "extra": {"twin": f"libreoffice_calc/t{at:02}"}} for at in range(6)]
        there, first = played(installation, "osworld", ubuntu)
        run, second = played(installation, "osworld", windows, name="osworld-windows")
        table = installation.do(twin_table, "osworld-windows")
        (row,) = table.own
        pairs = [(first[f"t{at:02}"]["score"], second[f"t{at:02}"]["score"]) for at in range(6)]
        assert (row.run_id, row.twin_run_id, row.pairs, table.tasks) == (run, there, 6, 6)
        assert float(row.ubuntu) == pytest.approx(100 * fmean(one for one, _ in pairs), abs=0.00501)
        assert float(row.windows) == pytest.approx(100 * fmean(two for _, two in pairs), abs=0.00501)
        assert row.correlation == expected_correlation(pairs)
        (published,) = table.published
        assert (published.ubuntu, published.windows, published.correlation) == ("4.88", "2.55", "0.7")
        assert installation.do(twin_table, "osworld") is None

    def test_another_observation_is_no_pair(self, installation: World) -> None:
        played(installation, "osworld", [{"domain": "libreoffice_calc"}] * 3, observation="a11y_tree")
        specs: list[Spec] = [{"domain": "excel", "extra": {"twin": f"libreoffice_calc/t{at:02}"}} for at in range(3)]
        played(installation, "osworld", specs, name="osworld-windows", observation="screenshot")
        assert installation.do(twin_table, "osworld-windows").own == []


def expected_correlation(pairs: Sequence[tuple[float, float]]) -> str:
    """Pearson's from the sums of its textbook form; empty where a side does not vary."""
    n = len(pairs)
    x, y = [one for one, _ in pairs], [two for _, two in pairs]
    spread = (n * sum(a * a for a in x) - sum(x) ** 2) * (n * sum(b * b for b in y) - sum(y) ** 2)
    if spread <= 1e-12:
        return ""
    return f"{(n * sum(a * b for a, b in pairs) - sum(x) * sum(y)) / spread**0.5:.2f}"
