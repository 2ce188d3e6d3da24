"""Who is better: ranked rows with intervals, marked ones without a rank, missing tasks said."""

from typing import Any
from uuid import UUID

import pytest
from sqlalchemy import select, update

from backend.db.models import Episode, PublishedResult, Run
from backend.db.models.enums import Dimension
from backend.domain.errors import FailureClass, NotFound
from backend.domain.evaluators.protocols.windowsworld import WindowsWorldScores
from backend.domain.model.score import PartResult
from backend.domain.model.task import PartKind
from backend.services.benchmarks.benchmarks import get_benchmark
from backend.services.results.leaderboards import BenchmarkBoard, BoardOptions, leaderboard
from tests.error_codes import raises_code
from tests.factories.measured import benchmark_of, checkpoint_task, finish, graph_task, verdict
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task


def board(installation: World, name: str = "starter", version: int | None = None) -> BenchmarkBoard:
    installation.roll_up()
    made: BenchmarkBoard = installation.do(leaderboard, name, version=version)
    return made


def play(installation: World, scores: list[float | None], agent: str = "replay", **more: Any) -> UUID:
    """A run whose episodes end with these scores; None = lost by its evaluator. Returns its id."""
    worker = installation.worker(slots=1)
    run = installation.submit(agent, **more)
    installation.in_order()
    for score in scores:
        claim = installation.must_claim(worker)
        if score is None:
            installation.lose(claim, FailureClass.EVALUATOR)
        else:
            installation.score(claim, score)
    return run.id


@pytest.fixture
def measured(ready: World, monkeypatch: pytest.MonkeyPatch) -> World:
    """An installation where the floors count, so that built-in agents can be ranked here."""
    monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset({"noop"}))
    return ready


class TestLeaderboard:
    def test_ranks_by_mean_score_and_says_ties(self, measured: World) -> None:
        play(measured, [1.0, 1.0, 1.0], "always_fail")
        play(measured, [0.0, 0.0, 0.0], "random")
        found = board(measured)
        assert [(row.agent.name, row.standing and row.standing.rank) for row in found.rows] == [
            ("always_fail", 1),
            ("random", 2),
        ]
        # Three tasks each cannot tell them apart, whatever they scored.
        assert [row.standing.group for row in found.rows if row.standing] == [1, 1]
        assert found.tasks.number == 3

    def test_lost_episodes_count_in_the_lower_bound_only(self, measured: World) -> None:
        play(measured, [1.0, None, 0.5], "random")
        summary = board(measured).rows[0].summary
        assert (summary.mean_score, summary.lower_bound_mean) == (0.75, 0.5)
        assert summary.counts_text == "2 of 3 episodes scored; 1 lost (evaluator 1)"

    def test_floors_and_agents_that_see_the_task_have_no_rank(self, measured: World) -> None:
        play(measured, [0.5] * 3, "random")
        play(measured, [1.0] * 3, "oracle")
        play(measured, [0.0] * 3, "noop")
        found = {row.agent.name: row for row in board(measured).rows}
        assert (found["oracle"].reference, found["oracle"].standing) == ("privileged", None)
        assert (found["noop"].reference, found["noop"].standing) == ("floor", None)
        assert found["random"].standing is not None
        assert [row.agent.name for row in board(measured).rows] == ["random", "oracle", "noop"]

    def test_by_domain_and_difficulty(self, installation: World) -> None:
        made = [make_task("files", "a", difficulty="easy", difficulty_source="author"), make_task("editor", "b")]
        installation.benchmark(make_benchmark(*made))
        play(installation, [1.0, 0.0], "random")
        by = board(installation).rows[0].by
        assert {key: cell.mean_score for key, cell in by[Dimension.DOMAIN].items()} == {"files": 1.0, "editor": 0.0}
        assert {key: cell.mean_score for key, cell in by[Dimension.DIFFICULTY].items()} == {
            "easy": 1.0,
            "unlabelled": 0.0,
        }

    def test_the_fullest_run_is_linked_and_all_are_pooled(self, measured: World) -> None:
        play(measured, [1.0], "random", tasks=("files/a",))
        fullest = play(measured, [0.0, 0.5, 0.0], "random")
        play(measured, [1.0], "random", tasks=("files/b",))
        (row,) = board(measured).rows
        assert (row.run.id, row.summary.counts.scored, row.summary.solved, len(row.others)) == (fullest, 5, 2, 2)
        assert row.summary.mean_score == pytest.approx((0.5 + 0.75 + 0.0) / 3)
        assert row.passes is not None
        assert (row.passes.passes, row.standing is not None) == (2, True)

    def test_a_cell_of_several_passes_is_what_its_tasks_give_the_row(self, installation: World) -> None:
        installation.benchmark(
            make_benchmark(make_task("files", "a"), make_task("files", "b"), make_task("editor", "c"))
        )
        play(installation, [0.0, 1.0, 1.0], "random")
        play(installation, [1.0], "random", tasks=("files/a",))
        (row,) = board(installation).rows
        cells = row.by[Dimension.DOMAIN]
        assert {name: cell.mean_score for name, cell in cells.items()} == {"files": 0.75, "editor": 1.0}
        assert row.summary.mean_score == pytest.approx((2 * 0.75 + 1.0) / 3)
        assert (cells["files"].counts.scored, row.by[Dimension.ALL][""].mean_score) == (3, row.summary.mean_score)

    def test_repeats_of_one_run_are_passes_in_its_cells_too(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task("files", "a"), make_task("files", "b")))
        worker = installation.worker(slots=1)
        installation.submit("random", repeats=2)
        lost = False
        while (claim := installation.claim(worker)) is not None:
            if claim.task.key.name == "b":
                installation.score(claim, 1.0)
            elif lost:
                installation.score(claim, 0.0)
            else:
                installation.lose(claim, FailureClass.EVALUATOR)
                lost = True
        (row,) = board(installation).rows
        cell = row.by[Dimension.DOMAIN]["files"]
        assert (cell.counts.scored, cell.counts.lost) == (3, 1)
        assert (cell.mean_score, cell.lower_bound_mean) == (row.summary.mean_score, row.summary.lower_bound_mean)
        assert (cell.mean_score, cell.lower_bound_mean) == (0.5, 0.5)
        assert cell.mean_interval == row.summary.mean_interval

    def test_missing_tasks_are_counted(self, measured: World) -> None:
        play(measured, [1.0], "random", tasks=("files/a",))
        (row,) = board(measured).rows
        assert (row.missing_tasks, row.summary.tasks) == (2, 1)

    def test_human_assisted_tasks_are_not_covered_and_are_listed(self, measured: World) -> None:
        play(measured, [1.0] * 3, "always_fail")
        helped = play(measured, [1.0] * 3, "random")
        with measured.work() as session:
            first = select(Episode.id).where(Episode.run_id == helped).limit(1).scalar_subquery()
            session.execute(update(Episode).where(Episode.id == first).values(human_assisted=True))
            session.execute(update(Run).values(rollup_stale=True))
        alone, with_help = board(measured).rows
        assert (alone.standing is not None, with_help.standing) == (True, None)
        assert [(reason.code, reason.text) for reason in with_help.reasons] == [
            ("partial", "2 of 3 tasks (1 with a person's help)")
        ]
        assert (with_help.summary.counts.human_assisted, with_help.summary.counts.scored) == (1, 2)
        common: BenchmarkBoard = measured.do(leaderboard, "starter", options=BoardOptions(common=True))
        assert (common.common, sum(row.standing is not None for row in common.rows)) == (2, 2)
        # Another pass without help covers the task.
        play(measured, [0.0] * 3, "random")
        assert all(row.standing is not None for row in board(measured).rows)

    def test_validation_runs_are_not_on_it(self, ready: World) -> None:
        play(ready, [0.0] * 3, "noop", purpose="validate")
        assert board(ready).rows == []

    def test_a_run_without_a_score_is_last_and_has_no_rate(self, measured: World) -> None:
        measured.worker()
        measured.submit("random")
        (row,) = board(measured).rows
        assert (row.standing, row.summary.mean_score, row.missing_tasks) == (None, None, 3)

    def test_each_version_has_its_own(self, measured: World) -> None:
        play(measured, [1.0] * 3, "random")
        assert board(measured).newer is None
        measured.benchmark(make_benchmark(make_task(name="new")))
        assert board(measured, version=2).rows == []
        newest = board(measured)
        assert (newest.task_set.version, len(newest.rows), newest.newer and newest.newer.version) == (1, 1, 2)
        with raises_code(NotFound, "version_not_found", mentions="7"):
            board(measured, version=7)

    def test_published_results_are_listed_separately(self, ready: World) -> None:
        with ready.work() as session:
            benchmark = get_benchmark(session, "starter")
            values = {"source": "a paper", "agent": "x", "measure": "mean_score", "value": 0.2}
            session.add(PublishedResult(benchmark_id=benchmark.id, **values))
        assert [row.value for row in board(ready).reported] == [0.2]


class TestPrimaryMeasure:
    """The scoring protocol names the measure that ranks."""

    def play(self, installation: World, agent: str, values: dict[str, float], scores: dict[str, float]) -> None:
        worker = installation.worker(slots=1)
        installation.submit(agent)
        while (claim := installation.claim(worker)) is not None:
            name = claim.task.key.name
            measures = {"CR": values[name]} if claim.task.evaluator.protocol == "omnibench" else {}
            reached = [None] * len(claim.task.evaluator.parts)
            finish(installation, claim, verdict(claim.task, reached, scores[name], measures))

    def test_graphs_are_ranked_by_cr(self, installation: World, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        installation.benchmark(benchmark_of(graph_task("g0", 0, 2), graph_task("g1", 1, 2)))
        self.play(installation, "random", {"g0": 1.0, "g1": 0.0}, {"g0": 1.0, "g1": 0.0})
        self.play(installation, "noop", {"g0": 0.8, "g1": 0.8}, {"g0": 0.0, "g1": 0.0})
        graphs = board(installation)
        assert graphs.primary == "CR"
        rows = [(row.agent.name, row.primary and row.primary.mean, row.summary.mean_score) for row in graphs.rows]
        assert rows == [("noop", pytest.approx(0.8), 0.0), ("random", 0.5, 0.5)]
        assert [row.standing and row.standing.rank for row in graphs.rows] == [1, 2]

    def test_windowsworlds_board_by_the_papers_rules(self, installation: World) -> None:
        """One task per level; the judge alone decides S_final, and S_int is of L1 to L3.

        L1: 2 of 2 checkpoints, right. L2: 1 of 4, wrong, although the file of an assertion is there. L3: 0 of 2, right:
        a right end counts whatever lies before. L4: the agent said FAIL. S_int = (1 + 1/4 + 0) / 3, S_final = 3/4.
        """
        reached = {"L1": [1.0, 1.0], "L2": [1.0, 0.0, 0.0, 0.0], "L3": [0.0, 0.0], "L4": []}
        judge = {"L1": 1.0, "L2": 0.0, "L3": 1.0, "L4": 1.0}
        held = PartResult(name="a1", kind=PartKind.ASSERTION, value=1.0)
        tasks = [checkpoint_task(level, level, len(values)) for level, values in reached.items()]
        installation.benchmark(benchmark_of(*tasks))
        worker = installation.worker(slots=1)
        installation.submit("random")
        while (claim := installation.claim(worker)) is not None:
            task, level = claim.task, claim.task.key.name
            parts = [
                PartResult(name=part.name, kind=part.kind, value=value)
                for part, value in zip(task.evaluator.parts, reached[level], strict=True)
            ] + ([held] if level == "L2" else [])
            paper = WindowsWorldScores()(task.evaluator, judge[level], parts)
            steps = [None if value == 0.0 else 1 for value in reached[level]]
            finish(installation, claim, verdict(task, steps, paper.score, paper.measures))
        (row,) = board(installation).rows
        assert {name: round(row.means[name].mean, 4) for name in ("S_int", "S_final", "S_assert", "S_agree")} == {
            "S_int": round(1.25 / 3, 4), "S_final": 0.75, "S_assert": 1.0, "S_agree": 0.0,
        }  # fmt: skip
        assert row.primary == row.means["S_final"]
        assert {name: row.means[name].tasks for name in ("S_int", "S_final")} == {"S_int": 3, "S_final": 4}

    def test_a_row_without_a_value_has_no_rank(self, installation: World, monkeypatch: pytest.MonkeyPatch) -> None:
        """WindowsWorld without a judge: assertions give a score, which is not S_final."""
        monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
        installation.benchmark(benchmark_of(checkpoint_task("t0", "L1", 1)))
        self.play(installation, "random", {}, {"t0": 1.0})
        windows = board(installation)
        (row,) = windows.rows
        assert (windows.primary, row.primary, row.standing, row.summary.mean_score) == ("S_final", None, None, 1.0)

    def test_different_protocols_have_the_score_in_common(self, installation: World) -> None:
        installation.benchmark(benchmark_of(graph_task("g0", 0, 2), checkpoint_task("t0", "L1", 1)))
        self.play(installation, "random", {"g0": 0.5}, {"g0": 0.0, "t0": 1.0})
        mixed = board(installation)
        assert (mixed.primary, mixed.rows[0].primary and mixed.rows[0].primary.mean) == ("score", 0.5)
