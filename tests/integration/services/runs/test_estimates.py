"""Time and cost of a run, estimated from earlier runs."""

from sqlalchemy import func, select, update

from backend.db.models import Attempt, Episode, Run
from backend.services.capacity.run_request import RunRequest
from backend.services.runs import runs
from backend.services.runs.estimates import RunEstimate, estimate
from backend.services.runs.views import new_run
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

TASKS = 12


def played(world: World, agent: str, solved: int, *, tokens: int | None = None, usd: float = 0.0) -> Run:
    """A completed run of one agent: its first tasks are solved, its k-th episode took 10 + k seconds."""
    run = world.submit(agent)
    worker = world.worker(slots=1)
    for place in range(TASKS):
        claim = world.must_claim(worker)
        world.score(claim, float(place < solved), steps=1)
        with world.work() as session:
            seconds = func.make_interval(0, 0, 0, 0, 0, 0, 10 + place)
            mine = update(Attempt).where(Attempt.id == claim.attempt_id)
            session.execute(mine.values(started_at=Attempt.ended_at - seconds))
            if tokens is not None:
                usage = {"input_tokens": tokens, "output_tokens": 10, "calls": 2, "usd": usd, "priced": True}
                session.execute(mine.values(usage=usage))
    return run


def asked(world: World, agent: str = "noop", **more: object) -> RunEstimate:
    with world.work() as session:
        return estimate(session, RunRequest.model_validate({"benchmark": "starter", "agent": agent, **more}))


def prepared(world: World) -> None:
    world.benchmark(make_benchmark(*(make_task("files", f"task-{at:02}") for at in range(TASKS))))
    world.worker(slots=1)


class TestEstimate:
    def test_no_estimate_without_history(self, installation: World) -> None:
        prepared(installation)
        found = asked(installation)
        assert (found.sample, found.seconds, found.usd, found.detectable) == (0, None, None, None)
        assert found.forecast.episodes == TASKS

    def test_sums_and_ranges_come_from_earlier_episodes(self, installation: World) -> None:
        prepared(installation)
        played(installation, "noop", 6, tokens=1000, usd=0.25)
        found = asked(installation, repeats=2)
        assert (found.sample, found.same_model, found.same_provider) == (TASKS, True, True)
        assert found.seconds is not None
        assert found.desktop_hours is not None
        assert abs(found.seconds.expected - 2 * sum(10 + at for at in range(TASKS))) < 1e-6
        assert abs(found.desktop_hours.expected * 3600 - found.seconds.expected) < 1e-6
        assert found.seconds.low < found.seconds.expected < found.seconds.high
        assert found.usd is not None
        assert (found.usd.expected, found.usd.low, found.usd.high) == (6.0, 6.0, 6.0)
        assert found.input_tokens is not None
        assert found.input_tokens.expected == 24_000
        assert asked(installation, "always_fail").sample == 0

    def test_another_model_costs_its_list_price(self, installation: World) -> None:
        prepared(installation)
        played(installation, "noop", 6, tokens=1000, usd=0.25)
        found = asked(installation, params={"model": "gpt-5-mini"})
        assert (found.same_model, found.list_price) == (False, True)
        assert found.usd is not None
        assert 0 < found.usd.expected < 0.1
        unknown = asked(installation, params={"model": "a-model-without-a-price"})
        assert unknown.usd is None
        assert unknown.input_tokens is not None

    def test_the_detectable_difference_is_that_of_pairs_on_the_same_tasks(self, installation: World) -> None:
        prepared(installation)
        played(installation, "noop", 6)
        played(installation, "always_fail", 8)
        found = asked(installation).detectable
        assert found is not None
        assert found.pairs == 1
        assert found.expected == found.low == found.high
        assert 0.5 <= found.expected <= 1.0, "an exact test needs six of twelve tasks"


class TestBenchmarks:
    def test_the_last_used_one_comes_first(self, installation: World) -> None:
        few = make_benchmark(make_task("files", "one"))
        installation.benchmark(few, name="another")
        prepared(installation)
        with installation.work() as session:
            assert new_run.new_run(session, "", "local").benchmark == "starter", "it has the most that can run"
        run = installation.submit("noop", benchmark="another")
        installation.do(runs.cancel_run, run.id)
        with installation.work() as session:
            assert new_run.new_run(session, "", "local").benchmark == "another"
            assert session.scalar(select(func.count()).select_from(Episode)) == 1
