"""The papers' tables from runs with seeded outcomes, against means that the tests compute from these outcomes."""

from collections.abc import Callable, Sequence
from statistics import fmean

import pytest

from backend.domain.model.omnibench_labels import CAPABILITIES, COMPLEXITIES
from backend.domain.model.task import Difficulty
from backend.domain.statistics.intervals import TaskCluster, cluster_mean
from tests.factories.paper_runs import Spec, mean_where, own_values, played, same, table_of, view_of
from tests.factories.records import World

LEVELS = [level.value for level in Difficulty]
GROUPS = ("Office", "Web", "Windows System", "Coding", "Media", "Windows Utilities")
OSWORLD_DOMAINS = {"os": "OS", "libreoffice_calc": "Office", "vlc": "Daily", "gimp": "Professional",
                   "multi_apps": "Workflow"}  # fmt: skip
PERSONAS = ("Designer", "General User", "HR Specialist")
AXES = ("dependency", "branch", "instruction", "knowledge", "hierarchy")


class TestWAA:
    def test_table_3_has_published_and_own_rows(self, installation: World) -> None:
        specs: list[Spec] = [{"extra": {"group": GROUPS[at % 6]}, "os": "linux"} for at in range(21)]
        run, outcomes = played(installation, "waa", specs)
        table = table_of(view_of(installation, "waa"), "waa-3")
        assert [row.title for row in table.published][:2] == ["Navi (Phi3-V)", "Navi (GPT-4o-mini)"]
        assert table.published[-1].title == "Human"
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
        assert row.runs == [run]
        assert [reason.code for reason in row.reasons] == ["reference"]
        titles = ("Office", "Web Browser", "Windows System", "Coding", "Media & Video", "Windows Utils")
        expected = {
            title: mean_where(specs, outcomes, lambda spec, group=group: spec["extra"]["group"] == group)  # type: ignore[misc]
            for title, group in zip(titles, GROUPS, strict=True)
        }
        same(own_values(table, row), {**expected, "Total": mean_where(specs, outcomes, lambda _: True)})
        assert [cell.tasks for cell in row.cells if cell] == [4, 4, 4, 3, 3, 3, 21]
        total = row.cells[-1]
        assert total is not None
        clusters = [TaskCluster(1, task["score"]) for task in outcomes.values()]
        assert total.interval == pytest.approx(cluster_mean(clusters))
        assert [cell.interval for cell in table.published[0].cells if cell] == [None] * 7

    def test_table_6_has_steps_and_rates(self, installation: World) -> None:
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
        assert (five.published[0].title, five.published[0].inputs) == ("Mixtral-8x7B", "A11y tree")

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
                "capability": list(CAPABILITIES)[at % 10 if at < 10 else 0],
                "capabilities": list(CAPABILITIES),
                "complexity": {axis: LEVELS[(at + place) % 3] for place, axis in enumerate(COMPLEXITIES)},
                "graph": {"branch": 1 + at % 2},
            },
            "most": 1.0 if at % 10 and at < 10 else 0.2,
        }
        for at in range(20)
    ]
    """Eleven poor tasks of the first set, and one of each other: the mean of the sets is not the mean of all."""

    def test_tables_4_and_5_and_the_structures(self, installation: World) -> None:
        _, outcomes = played(installation, "omnibench", self.SPECS)
        view = view_of(installation, "omnibench")

        def mean(fits: Callable[[Spec], bool], measure: str = "CR") -> float | None:
            return mean_where(self.SPECS, outcomes, fits, measure)

        four = table_of(view, "omnibench-4")
        (row,) = four.own
        letters = {title: name for name, title in CAPABILITIES.items()}
        sets = {
            title: mean(lambda spec, title=title: spec["extra"]["capability"] == letters[title])  # type: ignore[misc]
            for title in four.columns[2:]
        }
        overall = fmean(value for value in sets.values() if value is not None)
        assert len(sets) == 10
        assert abs(overall - (mean(lambda _: True) or 0.0)) > 1.0
        expected = {"Overall CR": overall, "Overall LC": mean(lambda _: True, "LC"), **sets}
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
        overall = {"Overall": mean_where(specs, outcomes, lambda _: True)}
        levels = table_of(view, "prosoftarena-levels")
        expected = {name: mean_where(specs, outcomes, lambda spec, name=name: spec["level"] == name)  # type: ignore[misc]
                    for name in ("L1", "L2", "L3")}  # fmt: skip
        same(own_values(levels, levels.own[0]), {**expected, **overall})
        disciplines = table_of(view, "prosoftarena-disciplines")
        expected = {name: mean_where(specs, outcomes, lambda spec, name=name: spec["extra"]["discipline"] == name)  # type: ignore[misc]
                    for name in fields}  # fmt: skip
        same(own_values(disciplines, disciplines.own[0]), {**expected, **overall})
