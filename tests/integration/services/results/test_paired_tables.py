"""Tables that pair tasks: Windows with Ubuntu, English with Chinese instructions."""

import operator
import random
from collections.abc import Sequence
from itertools import product
from statistics import fmean
from uuid import UUID

import pytest
from scipy import stats  # type: ignore[import-untyped]

from backend.db.models import Run
from backend.domain.model.score import Evaluation
from backend.domain.model.task import LoadedBenchmark, Variant
from backend.domain.statistics.paired import Pair, difference
from backend.domain.statistics.passes import pool
from backend.services.results.views.languages import language_table
from backend.services.results.views.twins import HEAD, twin_rows, twin_table
from tests.factories.correlation import correlation
from tests.factories.measured import finish
from tests.factories.paper_runs import Spec, played, task_of
from tests.factories.records import World
from tests.factories.scene import OneTransaction
from tests.sampling import seed


def fisher_interval(first: Sequence[float], second: Sequence[float]) -> tuple[float, float]:
    """As scipy computes it."""
    ends = stats.pearsonr(first, second).confidence_interval(0.95)
    return float(ends.low), float(ends.high)


class TestTwins:
    def test_pairs_one_configurations_runs_and_correlates_them(self, installation: World) -> None:
        ubuntu: list[Spec] = [{"domain": "libreoffice_calc"} for _ in range(8)]
        windows: list[Spec] = [{"domain": "excel", "extra": {"twin": f"libreoffice_calc/t{at:02}"}} for at in range(6)]
        there, first = played(installation, "osworld", ubuntu)
        run, second = played(installation, "osworld", windows, name="osworld-windows")
        table = installation.do(twin_table, "osworld-windows")
        (row,) = table.own
        pairs = [(first[f"t{at:02}"]["score"], second[f"t{at:02}"]["score"]) for at in range(6)]
        assert (row.runs, row.twin_runs, row.pairs, table.tasks) == ([run], [there], 6, 6)
        assert row.configuration is not None
        assert row.title == row.configuration.name
        assert float(row.ubuntu) == pytest.approx(100 * fmean(one for one, _ in pairs), abs=0.00501)
        assert float(row.windows) == pytest.approx(100 * fmean(two for _, two in pairs), abs=0.00501)
        assert row.correlation == expected_correlation(pairs)
        assert row.difference == pytest.approx(fmean(two - one for one, two in pairs))
        by_pairs = difference([Pair(f"t{at:02}", *pair) for at, pair in enumerate(pairs)])
        assert row.difference_interval == pytest.approx(by_pairs.interval)
        for interval, scores in zip((row.ubuntu_interval, row.windows_interval), zip(*pairs, strict=True), strict=True):
            mean = pool([[score] for score in scores])
            assert mean is not None
            assert interval == pytest.approx(mean.interval)
        expected = fisher_interval(*zip(*pairs, strict=True)) if row.correlation else None
        assert row.correlation_interval == (expected and pytest.approx(expected))
        (published,) = table.published
        assert (published.ubuntu, published.windows, published.correlation) == ("4.88", "2.55", "0.7")
        assert (published.configuration, published.runs) == (None, [])
        assert installation.do(twin_table, "osworld") is None

    def test_pools_passes_and_says_what_was_not_paired(self, installation: World) -> None:
        ubuntu: list[Spec] = [{"domain": "libreoffice_calc"}] * 4
        windows: list[Spec] = [{"domain": "excel", "extra": {"twin": f"libreoffice_calc/t{at:02}"}} for at in range(4)]
        passes = [played(installation, "osworld", ubuntu, seed=at) for at in range(2)]
        there = [played(installation, "osworld", windows, name="osworld-windows", seed=at) for at in range(3)]
        played(installation, "osworld", ubuntu, budget={"max_steps": 50})
        lonely, _ = played(installation, "osworld", windows, name="osworld-windows", budget={"max_steps": 20})
        alone, _ = played(installation, "osworld", windows, name="osworld-windows", observation="a11y_tree")
        table = installation.do(twin_table, "osworld-windows")
        (row,) = table.own
        assert ({*row.runs}, {*row.twin_runs}) == ({run for run, _ in there}, {run for run, _ in passes})
        names = [f"t{at:02}" for at in range(4)]
        first, second = (
            [fmean(outcomes[name]["score"] for _, outcomes in runs) for name in names] for runs in (passes, there)
        )
        assert float(row.ubuntu) == pytest.approx(100 * fmean(first), abs=0.00501)
        assert float(row.windows) == pytest.approx(100 * fmean(second), abs=0.00501)
        assert row.correlation == expected_correlation(list(zip(first, second, strict=True)))
        assert {left.runs[0]: left.reason for left in table.left_out} == {
            lonely: "its runs on Ubuntu had other conditions: 50 steps, here 20 steps",
            alone: "no run of this configuration on Ubuntu",
        }
        files = [dict(zip(HEAD, row, strict=True)) for row in twin_rows(table)]
        assert [(each["published"], each["windows"], each["difference_low"]) for each in files[:2]] == [
            (True, 2.55, None),
            (False, float(row.windows), row.difference_interval and 100 * row.difference_interval.low),
        ]
        assert {each["not_paired"] for each in files[2:]} == {left.reason for left in table.left_out}


class TestLanguages:
    LEVELS = ("L1", "L2", "L3", "L4")

    def played(self, world: World) -> tuple[set[UUID], UUID, dict[str, list[dict[str, dict[str, float]]]]]:
        """Two passes in English, one in Chinese: runs, and measures by language, pass and task."""
        draw = random.Random(f"{seed()} languages")  # noqa: S311 - a sample
        tasks = tuple(task_of("windowsworld", f"t{at:02}", {"level": self.LEVELS[at % 4]}) for at in range(16))
        variants = tuple(Variant(axis="language", value="cn", task=task) for task in tasks)
        outcomes: dict[str, list[dict[str, dict[str, float]]]] = {"": [], "language=cn": []}
        with world.work() as session:
            here = OneTransaction(world.factory, world.store, session)
            loaded = LoadedBenchmark(kind="windowsworld", suite="windowsworld", tasks=tasks, variants=variants)
            here.benchmark(loaded, name="windowsworld")
            worker = here.worker(slots=1)
            runs: list[Run] = []
            for variant in ("", "language=cn", ""):
                runs.append(here.submit("random", "windowsworld", variant=variant or None, seed=len(runs)))
                outcomes[variant].append({})
                while (claim := here.claim(worker)) is not None:
                    measures = {"S_final": float(draw.random() < 0.5)}
                    measures |= {"S_int": draw.random()} if claim.task.labels.level != "L4" else {}
                    outcomes[variant][-1][claim.task.key.name] = measures
                    finish(here, claim, Evaluation(score=measures["S_final"], measures=measures), steps=1)
        world.roll_up()
        return {runs[0].id, runs[2].id}, runs[1].id, outcomes

    def test_pair_the_same_tasks(self, installation: World) -> None:
        english, chinese, outcomes = self.played(installation)
        table = installation.do(language_table, "windowsworld")
        levels = ("", *self.LEVELS)
        assert [(row.measure, row.level) for row in table.rows] == [
            *(("S_int", level) for level in levels[:-1]), *(("S_final", level) for level in levels)
        ]  # fmt: skip
        for row in table.rows:
            names = [f"t{at:02}" for at in range(16) if row.level in {"", self.LEVELS[at % 4]}]
            sides = []
            for language in ("", "language=cn"):
                values = [[one[name][row.measure] for one in outcomes[language] if row.measure in one[name]]
                          for name in names]  # fmt: skip
                sides.append([fmean(value) for value in values if value])
            differences = [other - one for one, other in zip(*sides, strict=True)]
            assert row.english == pytest.approx(fmean(sides[0]))
            assert row.chinese == pytest.approx(fmean(sides[1]))
            assert row.difference == pytest.approx(fmean(differences))
            assert row.tasks == len(differences)
            assert row.interval.low <= row.difference <= row.interval.high
            assert row.p_value == pytest.approx(flipped(differences))
            assert row.chinese_runs == [chinese]
            assert {*row.runs} == english

    def test_other_benchmarks_have_none(self, installation: World) -> None:
        played(installation, "waa", [{}])
        assert installation.do(language_table, "waa") is None


def flipped(differences: Sequence[float]) -> float:
    """Share of all patterns of signs whose sum is at least as far from 0."""
    values = [value for value in differences if value]
    total = abs(sum(values)) - 1e-9
    patterns = product((-1, 1), repeat=len(values))
    return fmean(abs(sum(map(operator.mul, signs, values))) >= total for signs in patterns)


def expected_correlation(pairs: Sequence[tuple[float, float]]) -> str:
    """Pearson's to two digits; empty where a side does not vary."""
    value = correlation([one for one, _ in pairs], [two for _, two in pairs])
    return "" if value is None else f"{value:.2f}"
