"""Costs of a board's rows, against sums that the tests compute from the steps that they record."""

from datetime import date
from statistics import fmean
from typing import Any

import pytest
from sqlalchemy import update

from backend.db.models import Episode, Node, Task
from backend.domain.machines.node_prices import NodePrice
from backend.domain.model.task import LoadedBenchmark
from backend.domain.model.trajectory import Usage
from backend.services.results.costs import StepRatio, StepRatios
from backend.services.results.leaderboards import BoardOptions
from backend.services.results.views.board_columns import NUMBERS
from backend.services.results.views.leaderboard import board_of, sorted_by
from backend.services.results.views.leaderboard_models import LeaderboardRow
from backend.services.results.views.pareto import pareto_chart
from backend.services.results.views.row_costs import NodePriceList
from tests.factories.costs import computed_again, last, pin_model, spend
from tests.factories.measured import checkpoint_task, finish, verdict
from tests.factories.records import World

USAGES = (
    (Usage(input_tokens=1000, output_tokens=20, usd=0.01, calls=1), Usage(input_tokens=500, usd=0.004, calls=1)),
    (Usage(input_tokens=300, output_tokens=7, usd=0.002, calls=2),),
    (Usage(input_tokens=10, output_tokens=3, usd=0.001, calls=1),),
)
SECONDS = ((0.0, 60.0), (30.0, 60.0), (600.0, 120.0))
"""Start and length of the three attempts: 90 s with one or two of them, then 120 s."""
PRICES = NodePriceList([NodePrice(provider="local", since=date(2026, 11, 1), per_hour=6.0, currency="EUR")])


@pytest.fixture
def board(ready: World, monkeypatch: pytest.MonkeyPatch) -> World:
    monkeypatch.setattr("backend.services.results.leaderboards.FLOORS", frozenset())
    return ready


def play(world: World, usages: Any = USAGES, model: object = None, **more: Any) -> list[Any]:
    """A run whose three episodes used these; returns its claims."""
    worker, run = world.worker(slots=2), world.submit("random", **more)
    world.in_order()
    done = []
    for each, (start, seconds) in zip(usages, SECONDS, strict=True):
        claim = world.must_claim(worker)
        spend(world, claim, each)
        last(world, claim.attempt_id, start, seconds)
        done.append(claim)
    pin_model(world, run.id, model)
    computed_again(world)
    return done


def row_of(world: World, prices: NodePriceList = PRICES, **options: Any) -> LeaderboardRow:
    view = world.do(board_of, "starter", None, BoardOptions(**options), prices)
    (row,) = view.rows
    shown: LeaderboardRow = row
    return shown


class TestTokensAndModels:
    def test_costs_are_means_over_scored_episodes(self, board: World) -> None:
        play(board)
        costs = row_of(board).costs
        assert costs.input_tokens == pytest.approx(fmean([1500, 300, 10]))
        assert costs.output_tokens == pytest.approx(fmean([20, 7, 3]))
        assert costs.usd == pytest.approx(fmean([0.014, 0.002, 0.001]))
        assert [(price.model, price.since) for price in costs.prices] == [("small-1", "2026-11-01")]
        assert costs.usd_missing == ""

    def test_passes_are_pooled(self, board: World) -> None:
        play(board)
        play(board, [(Usage(input_tokens=100, calls=1, usd=0.1),)] * 3, seed=5)
        row = row_of(board)
        assert row.passes is not None
        assert row.passes.number == 2
        assert row.costs.input_tokens == pytest.approx((1810 + 300) / 6)
        assert row.costs.usd == pytest.approx((0.017 + 0.3) / 6)

    @pytest.mark.parametrize(
        ("usage", "model", "missing"),
        [
            (Usage(input_tokens=5, calls=1, priced=False), {"asked": "own", "price": None}, "no price of own"),
            (Usage(), None, "no model calls"),
            (Usage(input_tokens=5), None, "no price"),
        ],
    )
    def test_cost_without_a_price_is_unknown_and_not_0(
        self, board: World, usage: Usage, model: object, missing: str
    ) -> None:
        play(board, [(usage,)] * 3, model)
        costs = row_of(board).costs
        assert (costs.usd, costs.usd_missing) == (None, missing)
        assert (costs.input_tokens is None) == (usage.input_tokens == 0)

    def test_a_free_model_costs_0(self, board: World) -> None:
        play(board, [(Usage(input_tokens=5, calls=1),)] * 3)
        assert row_of(board).costs.usd == 0.0

    def test_human_assisted_episodes_are_left_out(self, board: World) -> None:
        first, *_ = play(board)
        with board.work() as session:
            session.execute(update(Episode).where(Episode.id == first.episode_id).values(human_assisted=True))
        computed_again(board)
        costs = row_of(board).costs
        assert costs.input_tokens == pytest.approx(fmean([300, 10]))
        assert costs.seconds == pytest.approx(fmean([60, 120]))


class TestTimes:
    def test_whole_time_makespan_and_parallelism(self, board: World) -> None:
        play(board)
        row = row_of(board)
        assert row.costs.seconds == pytest.approx(80.0)
        assert row.agent_seconds == pytest.approx(2.0)
        assert row.costs.makespan == pytest.approx(90.0 + 120.0)
        assert row.costs.parallelism == pytest.approx(240.0 / 210.0)

    def test_common_tasks_have_their_own_costs_and_no_makespan(self, board: World) -> None:
        play(board)
        everything = row_of(board, common=True).costs
        assert everything.input_tokens == pytest.approx(fmean([1500, 300, 10]))
        assert (everything.makespan, everything.parallelism) == (None, None)


class TestNodes:
    def test_an_episode_takes_its_slots_share_of_the_node(self, board: World) -> None:
        play(board)
        costs = row_of(board).costs
        # Two slots on the node, so that 240 s of desktops are 120 s of the node.
        assert costs.nodes == pytest.approx(6.0 * 120 / 3600 / 3)
        assert (costs.currency, costs.node_prices_since) == ("EUR", [date(2026, 11, 1)])

    def test_the_instance_type_names_the_price(self, board: World) -> None:
        play(board)
        with board.work() as session:
            session.execute(update(Node).values(labels={"node.kubernetes.io/instance-type": "D8"}))
        computed_again(board)
        exact = NodePrice(provider="local", node="D8", since=date(2026, 11, 2), per_hour=60.0)
        costs = row_of(board, NodePriceList([*PRICES.prices, exact])).costs
        assert costs.nodes == pytest.approx(60.0 * 120 / 3600 / 3)

    def test_cost_without_a_price_is_unknown_and_not_0(self, board: World) -> None:
        play(board)
        later = NodePrice(provider="local", since=date(2026, 11, 21), per_hour=6.0)
        for prices in (NodePriceList(), NodePriceList([later])):
            costs = row_of(board, prices).costs
            assert (costs.nodes, costs.currency, costs.nodes_missing) == (None, "", "no price of local n1")
        assert row_of(board, NodePriceList(error="broken")).costs.nodes_missing == "broken"


class TestBoard:
    def test_sorts_by_any_number_and_draws_the_front(self, board: World) -> None:
        play(board)
        play(board, [(Usage(input_tokens=100, calls=1, usd=0.1),)] * 3, image={"scale": 0.5})
        view = board.do(board_of, "starter", None, None, PRICES)
        cheap, dear = (row.costs.usd for row in sorted_by(view, "usd"))
        assert cheap == pytest.approx(0.017 / 3)
        assert dear == pytest.approx(0.1)
        assert sorted_by(view, "tokens_in")[0].costs.input_tokens == pytest.approx(100)
        chart = pareto_chart(view, "usd")
        assert [point.cost for point in chart.points] == pytest.approx([0.017 / 3, 0.1])
        assert [point.front for point in chart.points] == [True, False]
        unpriced = pareto_chart(board.do(board_of, "starter", None, None, NodePriceList()), "nodes")
        assert (list(unpriced.points), unpriced.missing) == ([], ["no price of local n1"])


class TestStepRatios:
    def test_ratios_use_solved_tasks_over_each_reference(self, installation: World) -> None:
        tasks = [checkpoint_task(f"t{at}", level, 1) for at, level in enumerate(("L1", "L2", "L1"))]
        world = installation
        world.benchmark(LoadedBenchmark(kind="windowsworld", suite="windowsworld", tasks=tuple(tasks)))
        worker = world.worker(slots=1)

        def run(agent: str, results: dict[str, tuple[float, int]]) -> None:
            world.submit(agent)
            while (claim := world.claim(worker)) is not None:
                score, steps = results[claim.task.key.name]
                finish(world, claim, verdict(claim.task, [1], score, {"S_final": score}), steps=steps)

        run("random", {"t0": (1.0, 8), "t1": (1.0, 9), "t2": (0.0, 30)})
        world.roll_up()
        assert ratios_of(world).oracle is None
        run("oracle", {"t0": (1.0, 4), "t1": (0.0, 3), "t2": (1.0, 2)})
        with world.work() as session:
            session.execute(update(Task).where(Task.name == "t1").values(human_steps=6))
        world.roll_up()  # The oracle's run: its end marks the others.
        world.roll_up()
        ratios = ratios_of(world)
        assert ratios.oracle == StepRatio(mean=2.0, episodes=1)
        assert ratios.people == StepRatio(mean=1.5, episodes=1)
        assert ratios.minimum is not None
        assert ratios.minimum.mean == pytest.approx((8 / 9.67 + 9 / 18.13) / 2)
        assert ratios.minimum.episodes == 2
        with world.work() as session:
            rows = board_of(session, "starter", None).rows
        column = next(each for each in NUMBERS if each.name == "oracle_steps")
        assert {row.agent: (column.value(row), column.note(row)) for row in rows}["random"] == (2.0, "n = 1")

    def test_ratios_use_common_tasks_on_a_common_board(self, board: World) -> None:
        play(board)
        with board.work() as session:
            session.execute(update(Task).values(human_steps=2))
        computed_again(board)
        assert row_of(board).step_ratios.people == row_of(board, common=True).step_ratios.people


def ratios_of(world: World) -> StepRatios:
    with world.work() as session:
        rows = board_of(session, "starter", None).rows
        return next(row.step_ratios for row in rows if row.agent == "random")
