"""Tasks judged by evaluation functions in Python: only workers with a fence for them get their episodes."""

from collections import Counter
from datetime import timedelta
from functools import partial

import pytest
from sqlalchemy import func, select, update

from backend.db.models import Episode, Run, Task, Worker
from backend.db.repositories.attempts.reevaluations import COMES_BACK
from backend.domain.model.reason import ReasonCode
from backend.domain.scheduling.requirements import Requirements
from backend.services.attempts import reevaluation
from backend.services.benchmarks.views.benchmark_page import benchmark_page
from backend.services.capacity.run_request import RunRequest
from backend.services.capacity.views.capabilities import LOCAL, abilities
from backend.services.runs import runs
from backend.services.runs.forecast import forecast
from backend.services.runs.views import home
from backend.services.scheduling import claims, episode_scheduler
from backend.services.scheduling.scheduler_demand import episode_demand
from backend.services.scheduling.wait_reasons import concurrency_of, explain
from tests.factories.records import World, fenced, unfenced
from tests.factories.tasks import judged_by_function, make_benchmark, make_task
from tests.integration.services.capacity.test_licences import PHOTOSHOP, seats

UNFENCED = ReasonCode.FUNCTIONS_NOT_SANDBOXED
FUNCTIONS, OTHERS = ("f0", "f1", "f2"), ("o0", "o1")


@pytest.fixture
def mixed(installation: World) -> World:
    """An installation with a benchmark of tasks of both kinds that need the same of a machine."""
    tasks = [judged_by_function(name=name) for name in FUNCTIONS] + [make_task(name=name) for name in OTHERS]
    installation.benchmark(make_benchmark(*tasks))
    return installation


def states(world: World, run: Run) -> dict[str, tuple[str, str | None]]:
    """State and code of the reason of a run's episodes, by task."""
    query = select(Task.name, Episode.state, Episode.reason_code).join(Episode, Episode.task_id == Task.id)
    with world.work() as session:
        rows = session.execute(query.where(Episode.run_id == run.id)).all()
    return {row.name: (row.state, row.reason_code) for row in rows}


def names(world: World, worker: Worker, number: int = 9) -> Counter[str]:
    """Tasks of the worker's episodes."""
    return Counter(claim.task.key.name for claim in world.do(claims.claim_many, worker.id, "local", number))


def why(world: World, run: Run) -> dict[str, ReasonCode]:
    with world.work() as session:
        rows = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
        found = explain(session, rows)
        return {session.get_one(Task, row.task_id).name: found[row.id].reason_code for row in rows if row.id in found}


class TestSubmission:
    def test_is_not_runnable_where_no_worker_has_the_fence(self, mixed: World) -> None:
        mixed.worker(capabilities=unfenced())
        expected = dict.fromkeys(FUNCTIONS, ("not_runnable", UNFENCED)) | dict.fromkeys(OTHERS, ("waiting", None))
        assert states(mixed, mixed.submit()) == expected

    @pytest.mark.parametrize("order", [1, -1])
    def test_runs_where_one_has_it(self, mixed: World, order: int) -> None:
        for number, capabilities in enumerate([fenced(), unfenced()][::order]):
            mixed.worker(f"w{number}", node=f"n{number}", pid=number + 1, capabilities=capabilities)
        assert {state for state, _ in states(mixed, mixed.submit()).values()} == {"waiting"}

    def test_a_fence_of_a_worker_with_other_desktops_does_not_help(self, mixed: World) -> None:
        mixed.worker(capabilities=unfenced())
        other = {"vm": {"ok": True, "reason": "", "programs": []}}
        mixed.worker("w2", node="n2", pid=2, slots_by_provider={"vm": 1}, capabilities=fenced(providers=other))
        assert states(mixed, mixed.submit())["f0"] == ("not_runnable", UNFENCED)

    def test_a_worker_of_an_older_release_says_nothing_of_it_and_counts_as_able(self, mixed: World) -> None:
        worker = mixed.worker(slots=9)
        mixed.submit()
        assert names(mixed, worker) == Counter([*FUNCTIONS, *OTHERS])

    def test_can_be_retried_once_a_worker_has_it(self, mixed: World) -> None:
        mixed.worker(capabilities=unfenced())
        run = mixed.submit()
        mixed.worker("w2", node="n2", pid=2, capabilities=fenced())
        mixed.do(runs.retry_run, run.id)
        assert {state for state, _ in states(mixed, run).values()} == {"waiting"}

    def test_forecast_reports_missing_sandboxes(self, mixed: World) -> None:
        mixed.worker(capabilities=unfenced())
        found = mixed.do(forecast, RunRequest(benchmark="starter", agent="noop"))
        assert (found.tasks, len(found.reasons)) == (len(OTHERS), 1)
        assert [each.reason_code for each in found.not_runnable] == [UNFENCED] * len(FUNCTIONS)
        assert {each.task for each in found.not_runnable} == {f"files/{name}" for name in FUNCTIONS}


class TestScheduler:
    def test_only_the_worker_with_the_fence_gets_them(self, mixed: World) -> None:
        without = mixed.worker(slots=9, capabilities=unfenced())
        having = mixed.worker("w2", slots=9, node="n2", pid=2, capabilities=fenced())
        mixed.submit()
        assert names(mixed, without) == Counter(OTHERS)
        assert names(mixed, without) == Counter()
        assert names(mixed, having) == Counter(FUNCTIONS)

    def test_blocked_functions_do_not_block_later_tasks(self, mixed: World) -> None:
        mixed.worker("w2", node="n2", pid=2, capabilities=fenced())
        without = mixed.worker(slots=1, capabilities=unfenced())
        mixed.submit()
        mixed.in_order()
        assert names(mixed, without, 1) == Counter(OTHERS[:1])

    def test_task_set_of_functions_only_runs_on_sandboxed_workers(self, installation: World) -> None:
        installation.benchmark(make_benchmark(*(judged_by_function(name=name) for name in FUNCTIONS)))
        having = installation.worker(slots=9, capabilities=fenced())
        without = installation.worker("w2", slots=9, node="n2", pid=2, capabilities=unfenced())
        installation.submit()
        assert names(installation, without) == Counter()
        assert names(installation, having) == Counter(FUNCTIONS)

    def test_no_demand_where_functions_cannot_run(self, mixed: World) -> None:
        mixed.worker(capabilities=fenced())
        without = mixed.worker("w2", node="n2", pid=2, capabilities=unfenced())
        mixed.submit()
        with mixed.work() as session:
            able = episode_scheduler.able_of(session.get_one(Worker, without.id), "local")
            meets = lambda row, need: able.meets(need, row.image)  # noqa: E731
            assert sum(one.number for one in episode_demand(session)) == len(FUNCTIONS) + len(OTHERS)
            assert sum(one.number for one in episode_demand(session, able=meets, leaves=able.leaves)) == len(OTHERS)

    def test_a_licence_is_no_way_around_it(self, installation: World) -> None:
        tasks = [judged_by_function(name="f0", licences=PHOTOSHOP), make_task(name="o0", licences=PHOTOSHOP)]
        seats(installation, "Photoshop", 5)
        installation.benchmark(make_benchmark(*tasks))
        having = installation.worker(slots=9, capabilities=fenced())
        without = installation.worker("w2", slots=9, node="n2", pid=2, capabilities=unfenced())
        installation.submit()
        assert names(installation, without) == Counter(["o0"])
        assert names(installation, having) == Counter(["f0"])


class TestScoringAgain:
    @pytest.fixture
    def asked(self, installation: World) -> Worker:
        """The worker with the fence, in an installation in which a request waits to judge such a task again."""
        installation.benchmark(make_benchmark(judged_by_function()))
        having = installation.worker(capabilities=fenced())
        installation.submit()
        claim = installation.must_claim(having)
        installation.score(claim)
        with installation.work() as session:
            reevaluation.request(session, claim.episode_id, installation.who(session)[1])
        return having

    def test_is_for_the_worker_with_the_fence(self, installation: World, asked: Worker) -> None:
        with installation.work() as session:
            assert session.get_one(Worker, asked.id).state == "online"
            assert reevaluation.claim_request(session, functions=False) is None
            assert reevaluation.claim_request(session) is not None

    def test_restarting_sandboxed_worker_is_waited_for(self, installation: World, asked: Worker) -> None:
        installation.do(claims.drain, asked.id)
        with installation.work() as session:
            assert reevaluation.claim_request(session, functions=False) is None

    def test_any_worker_claims_the_request_without_a_sandboxed_one(self, installation: World, asked: Worker) -> None:
        installation.do(claims.drain, asked.id)
        with installation.work() as session:
            long_ago = func.now() - COMES_BACK - timedelta(seconds=1)
            session.execute(update(Worker).values(state="offline", heartbeat_at=long_ago))
            assert reevaluation.claim_request(session, functions=False) is not None

    def test_other_requests_are_for_everybody(self, installation: World, asked: Worker) -> None:
        with installation.work() as session:
            session.execute(update(Task).values(dialect="starter"))
            assert reevaluation.claim_request(session, functions=False) is not None


class TestWaiting:
    def test_says_it_where_only_workers_without_are_online(self, mixed: World) -> None:
        having = mixed.worker(slots=9, capabilities=fenced())
        run = mixed.submit()
        mixed.worker("w2", node="n2", pid=2, capabilities=unfenced())
        assert set(why(mixed, run).values()) == {ReasonCode.STARTING}
        mixed.do(claims.drain, having.id)
        told = why(mixed, run)
        assert {told[name] for name in FUNCTIONS} == {UNFENCED}
        assert all(told[name] != UNFENCED for name in OTHERS)
        counted = {wait.reason.code: wait.episodes for wait in mixed.do(home.home).queue}
        assert counted == {UNFENCED: len(FUNCTIONS), ReasonCode.DESKTOPS_IN_USE: len(OTHERS)}

    def test_says_that_a_run_of_nothing_else_can_have_none(self, installation: World) -> None:
        installation.benchmark(make_benchmark(judged_by_function()))
        having = installation.worker(capabilities=fenced())
        run = installation.submit()
        installation.worker("w2", node="n2", pid=2, capabilities=unfenced())
        installation.do(claims.drain, having.id)
        found = installation.do(concurrency_of, run.id)
        assert found is not None
        assert (found.limit, found.slots, found.limiting_factor.code) == (0, 2, UNFENCED)


class TestPages:
    def test_a_benchmark_counts_them(self, mixed: World) -> None:
        mixed.worker(capabilities=unfenced())
        with mixed.work() as session:
            why_not = partial(abilities(session).why_not, LOCAL)
            page = benchmark_page(session, "starter", None, {}, None, why_not=why_not)
        counted = [(reason.code, number) for reason, number in page.health.not_runnable]
        assert counted == [(UNFENCED, len(FUNCTIONS))]


class TestNeedsOf:
    def test_separates_tasks_with_and_without_functions(self, mixed: World) -> None:
        with mixed.work() as session:
            tasks = session.scalars(select(Task)).all()
            assert {task.name for task in tasks if task.has_user_functions} == set(FUNCTIONS)
            (need,) = episode_scheduler.needs_of(session, tasks[0].task_set_id)
            functions = frozenset(task.id for task in tasks if task.has_user_functions)
            assert need == Requirements(tasks[0].requirements_id, "linux", functions=functions)  # type: ignore[arg-type]
