"""WindowsAgentArena's tables of people (6, 7), nodes (8) and minutes (9), against what the tests compute."""

import random
from collections.abc import Callable, Sequence
from datetime import date
from statistics import fmean, median

import pytest
from sqlalchemy import select

from backend.db.models import Attempt, Episode
from backend.domain.machines.node_prices import NodePrice
from backend.domain.model.score import Evaluation
from backend.domain.model.task import LoadedBenchmark
from backend.services.people import human_agent
from backend.services.results.views.paper_tables import PaperView, paper_view
from backend.services.results.views.row_costs import NodePriceList
from tests.factories.correlation import correlation
from tests.factories.costs import computed_again, last
from tests.factories.measured import finish
from tests.factories.paper_runs import Spec, played, table_of, task_of, view_of
from tests.factories.records import World, capabilities
from tests.factories.scene import OneTransaction
from tests.sampling import seed


def people_played(world: World, specs: Sequence[Spec]) -> dict[str, tuple[float, float, float]]:
    """A person's run over these tasks of WAA: steps, solved (0 or 1) and rating by the task's name."""
    draw = random.Random(f"{seed()} people")  # noqa: S311 - a sample
    results: dict[str, tuple[float, float, float]] = {}
    with world.work() as session:
        here = OneTransaction(world.factory, world.store, session)
        tasks = tuple(task_of("waa", f"t{at:02}", spec) for at, spec in enumerate(specs))
        here.benchmark(LoadedBenchmark(kind="waa", suite="waa", tasks=tasks), name="waa")
        offer = capabilities()
        offer["agents"]["human"] = {**offer["agents"]["noop"], "human": True}
        worker, run = here.worker(slots=1, capabilities=offer), here.submit("human", "waa")
        while (episode := human_agent.desk(session, run.id).episode) is not None:
            steps, solved, rating = draw.randint(1, 9), draw.randint(0, 1), draw.randint(1, 3)
            human_agent.begin(session, run.id, episode.id, feasible=True)
            claim = here.must_claim(worker)
            finish(here, claim, Evaluation(score=float(solved), measures={}), steps=steps)
            human_agent.rate(session, run.id, claim.episode_id, rating)
            human_agent.go_on(session, run.id, claim.episode_id)
            results[claim.task.key.name] = (steps, solved, rating)
    world.roll_up()
    return results


def rank_correlation(first: Sequence[float], second: Sequence[float]) -> float | None:
    """Spearman's, by its definition: Pearson's of the mean ranks."""

    def ranks(values: Sequence[float]) -> list[float]:
        return [
            sum(other < value for other in values) + (1 + sum(other == value for other in values)) / 2
            for value in values
        ]

    return None if len(first) < 3 else correlation(ranks(first), ranks(second))


class TestPeople:
    def test_tables_6_and_7_of_people(self, installation: World) -> None:
        domains = {"libreoffice_calc": "Office", "vlc": "Media", "msedge": "Web"}
        specs: list[Spec] = [
            {"domain": list(domains)[at % 3], "extra": {"group": list(domains.values())[at % 3]}} for at in range(18)
        ]
        results = people_played(installation, specs)
        view = view_of(installation, "waa")
        fits: dict[str, Callable[[Spec], bool]] = {
            "LibreOffice Calc": lambda spec: spec["domain"] == "libreoffice_calc",
            "VLC Player": lambda spec: spec["domain"] == "vlc",
            "Web Browsing": lambda spec: spec["extra"]["group"] == "Web",
            "Overall": lambda _: True,
        }
        parts = {
            title: [results[f"t{at:02}"] for at, spec in enumerate(specs) if fit(spec)] for title, fit in fits.items()
        }

        six = table_of(view, "waa-6")
        (difficulty,) = [row for row in six.own if row.measure == "difficulty"]
        ratings = {title: cell and cell.text for title, cell in zip(six.columns, difficulty.cells, strict=True)}
        assert ratings == dict.fromkeys(six.columns) | {
            title: f"{fmean(rating for _, _, rating in part):.1f}" for title, part in parts.items()
        }

        seven = table_of(view, "waa-7")
        assert [row.measure for row in seven.published] == [row.measure for row in seven.own]
        assert [cell and cell.text for cell in seven.published[0].cells][:2] == ["0.64", "0.43"]
        for row, (one, other) in zip(seven.own, ((0, 2), (0, 1), (1, 2)), strict=True):
            for title, cell in zip(seven.columns, row.cells, strict=True):
                part = parts.get(title, [])
                expected = rank_correlation([each[one] for each in part], [each[other] for each in part])
                assert (cell and cell.value) == (None if expected is None else pytest.approx(expected)), title


class TestNodes:
    def test_table_8_has_the_operators_prices(self, installation: World) -> None:
        played(installation, "waa", [{}])
        price = NodePrice(provider="k8s", node="D8", since=date(2026, 11, 1), per_hour=0.5, currency="EUR", cores=8)
        view: PaperView = installation.do(paper_view, "waa", prices=NodePriceList([price]))
        table = table_of(view, "waa-8")
        assert table.columns == ["Cores", "RAM", "Storage", "Price per hour"]
        assert [[cell and cell.text for cell in row.cells] for row in table.published] == [
            ["2", "8", "50", "0.096"],
            ["4", "16", "100", "0.192"],
            ["8", "32", "200", "0.384"],
            ["16", "64", "400", "0.768"],
        ]
        (row,) = table.own
        assert (row.title, row.inputs) == ("k8s D8", "since 2026-11-01")
        assert [cell and cell.text for cell in row.cells] == ["8", None, None, "0.5 EUR"]


class TestMinutes:
    def test_table_9_is_the_median_of_passes_over_all_tasks(self, installation: World) -> None:
        specs: list[Spec] = [{}, {}, {}]
        minutes = (20.0, 50.0, 32.0)
        for number, length in enumerate(minutes):
            run, _ = played(installation, "waa", specs, seed=number)
            with installation.work() as session:
                ids = session.scalars(select(Attempt.id).join(Episode).where(Episode.run_id == run)).all()
            for attempt in ids:
                last(installation, attempt, 0.0, 60 * length)
        installation.submit("random", "waa", tasks=("all/t00",))
        # A floor on one task only is no full run, although references have no rank anyway.
        worker = installation.worker("w2", node="n2")
        part = installation.submit("noop", "waa", tasks=("all/t00",))
        while claim := installation.claim(worker):
            if claim.run_id == part.id:
                installation.score(claim)
        computed_again(installation)
        table = table_of(view_of(installation, "waa"), "waa-9")
        assert [cell and cell.text for cell in table.published[0].cells] == ["16.1"]
        assert table.published[0].inputs == "UIA tree + Pytesseract + DOM + Grounding DINO"
        (row,) = table.own
        (cell,) = row.cells
        assert cell is not None
        assert (cell.text, cell.tasks) == (f"{median(minutes):.1f}", 3)
