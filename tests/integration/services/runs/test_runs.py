"""Submitting and steering runs. A wrong request starts nothing and says what is wrong where."""

from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from typing import Any

import pytest
from sqlalchemy import func, select

from backend.db.models import AgentConfiguration, Episode, Event, Run, Worker
from backend.domain.errors import Conflict, DeskarenaError, FailureClass, IllegalMove, Invalid, NotFound
from backend.domain.errors import UnknownPlugin as Unknown
from backend.domain.model.reason import ReasonCode
from backend.services.attempts import attempts
from backend.services.benchmarks import quarantine
from backend.services.capacity.run_request import episode_seed
from backend.services.runs import runs
from backend.services.scheduling import claims
from tests.error_codes import raises_code
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task


def states(installation: World, run: Run) -> list[str]:
    with installation.work() as session:
        query = select(Episode.state).where(Episode.run_id == run.id).order_by(Episode.id)
        return list(session.scalars(query))


def rows(installation: World) -> tuple[int, ...]:
    with installation.work() as session:
        return tuple(session.scalars(select(func.count()).select_from(kind)).one() for kind in (Run, Episode, Event))


class TestSubmitRun:
    def test_makes_an_episode_per_task_and_repeat(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(repeats=2)
        assert states(ready, run) == ["waiting"] * 6
        assert (run.state, run.purpose, run.accepts_episodes) == ("queued", "measure", False)

    def test_selects_by_pattern(self, ready: World) -> None:
        ready.worker()
        assert len(states(ready, ready.submit(tasks=("files/*",)))) == 2
        assert len(states(ready, ready.submit(tasks=("*/c", "files/a")))) == 2

    def test_pins_the_agents_defaults(self, ready: World) -> None:
        ready.worker()
        run = ready.submit("random")
        with ready.work() as session:
            agent = session.get_one(AgentConfiguration, run.agent_configuration_id)
        assert run.config["params"] == agent.params
        assert run.config["observation"] == "screenshot"
        assert run.config["action_space"] == "computer_13"

    def test_two_runs_of_one_configuration_share_the_agent_and_the_condition(self, ready: World) -> None:
        ready.worker()
        first, second = ready.submit(), ready.submit(repeats=3, seed=9, tasks=("files/*",))
        assert first.agent_configuration_id == second.agent_configuration_id
        assert first.condition_hash == second.condition_hash
        assert first.config_hash != second.config_hash

    def test_episode_seed_depends_on_run_seed_task_and_repeat(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(seed=5, tasks=("files/a",), repeats=2)
        with ready.work() as session:
            seeds = list(session.scalars(select(Episode.seed).where(Episode.run_id == run.id).order_by(Episode.id)))
        assert seeds == [episode_seed(5, "files/a", 1), episode_seed(5, "files/a", 2)]

    def test_tasks_that_cannot_run_here_have_a_reason(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(requires=("soffice", "mousepad")), make_task(name="ok")))
        installation.worker()
        run = installation.submit()
        with installation.work() as session:
            found = {
                row.state: row.reason_code for row in session.scalars(select(Episode).where(Episode.run_id == run.id))
            }
        assert found == {"not_runnable": ReasonCode.PROGRAMS_NOT_INSTALLED, "waiting": None}

    def test_a_run_of_nothing_runnable_is_completed_and_scores_nothing(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(requires=("soffice",))))
        installation.worker()
        run = installation.submit()
        assert run.state == "completed"
        summary = installation.do(runs.run_summary, run.id)
        assert (summary.success_rate, summary.mean_score, summary.lower_bound_mean) == (None, None, None)
        assert summary.counts_text == "0 of 1 episode scored; 1 not runnable here"

    def test_tasks_of_another_system_are_not_runnable(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(os="windows")))
        offer = {"ok": True, "reason": "", "programs": [], "os": ["linux"]}
        installation.worker(capabilities=capabilities() | {"providers": {"local": offer}})
        with installation.work() as session:
            session.expire_all()
        run = installation.submit()
        with installation.work() as session:
            assert session.scalars(select(Episode.reason_code).where(Episode.run_id == run.id)).one() == (
                ReasonCode.SYSTEM_NOT_OFFERED
            )

    def test_quarantined_tasks_are_left_out_of_measurements(self, ready: World) -> None:
        ready.worker()
        with ready.work() as session:
            from backend.services.benchmarks.benchmarks import latest_task_set, list_tasks

            task = list_tasks(session, latest_task_set(session, "starter").id).items[0]
            quarantine.quarantine_task(session, task.id, "flaky clock", ready.who(session)[1])
        assert states(ready, ready.submit()) == ["not_runnable", "waiting", "waiting"]
        assert states(ready, ready.submit(purpose="validate")) == ["waiting"] * 3
        with ready.work() as session:
            quarantine.lift_quarantine(session, task.id, "clock mended", ready.who(session)[1])
        assert states(ready, ready.submit()) == ["waiting"] * 3


class TestWrongRequests:
    @pytest.mark.parametrize(
        ("request_", "error", "path", "hint"),
        [
            ({"benchmark": "startr"}, NotFound, "", "starter"),
            ({"agent": "nop"}, Unknown, "agent", "noop"),
            ({"agent": "noop", "params": {"x": 1}}, Invalid, "params.x", "parameters"),
            ({"provider": "lokal"}, Unknown, "provider", "local"),
            ({"observation": "screenshots"}, Unknown, "observation", "screenshot"),
            ({"action_space": "computer_12"}, Unknown, "action_space", "computer_13"),
            ({"tasks": ("files/*", "nothing/*")}, Invalid, "tasks.1", "domain/name"),
        ],
    )
    def test_says_what_is_wrong_where_and_starts_nothing(
        self, ready: World, request_: dict[str, Any], error: type[DeskarenaError], path: str, hint: str
    ) -> None:
        ready.worker()
        before = rows(ready)
        with pytest.raises(error) as caught:
            ready.submit(**request_)
        assert getattr(caught.value, "path", "") == path
        assert hint in caught.value.hint
        assert rows(ready) == before

    def test_a_provider_that_does_not_work_says_why(self, ready: World) -> None:
        ready.worker(capabilities=capabilities(qemu={"ok": False, "reason": "no /dev/kvm", "programs": []}))
        with raises_code(Conflict, "provider_not_runnable", mentions="no /dev/kvm"):
            ready.submit(provider="qemu")

    def test_before_any_worker_a_run_waits_for_one(self, ready: World) -> None:
        run = ready.submit()
        with pytest.raises(Unknown):
            ready.submit(agent="nobody")
        worker = ready.worker()
        assert states(ready, run) == ["waiting"] * 3
        ready.must_claim(worker)
        assert sorted(states(ready, run)) == ["running", "waiting", "waiting"]

    def test_while_the_workers_are_away_what_they_could_do_counts(self, ready: World) -> None:
        worker = ready.worker()
        ready.do(claims.reap, lease_seconds=-1.0)
        with ready.work() as session:
            assert session.get_one(Worker, worker.id).state == "offline"
        assert states(ready, ready.submit()) == ["waiting"] * 3


class TestIdempotency:
    def test_same_key_and_request_give_the_same_run(self, ready: World) -> None:
        ready.worker()
        first = ready.submit(idempotency_key="k")
        assert ready.submit(idempotency_key="k").id == first.id
        assert rows(ready)[0] == 1

    def test_same_key_and_another_request_conflict(self, ready: World) -> None:
        ready.worker()
        ready.submit(idempotency_key="k")
        with raises_code(Invalid, "idempotency_key_reused"):
            ready.submit(idempotency_key="k", repeats=2)

    def test_still_the_same_after_a_new_version_of_the_tasks(self, ready: World) -> None:
        ready.worker()
        first = ready.submit(idempotency_key="k")
        ready.benchmark(make_benchmark(make_task(name="new")))
        assert ready.submit(idempotency_key="k").id == first.id

    def test_many_at_once_make_one_run(self, ready: World) -> None:
        ready.worker()
        with ThreadPoolExecutor(6) as pool:
            made = list(pool.map(lambda _: ready.submit(idempotency_key="k").id, range(12)))
        assert len(set(made)) == 1
        assert rows(ready)[:2] == (1, 3)


class TestPauseAndResume:
    def test_running_episodes_finish_when_paused(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        claim = ready.must_claim(worker)
        ready.do(runs.pause_run, run.id)
        ready.do(runs.pause_run, run.id)
        ready.score(claim)
        assert states(ready, run) == ["scored", "waiting", "waiting"]
        assert ready.do(runs.resume_run, run.id).state == "running"
        assert ready.do(runs.resume_run, run.id).state == "running"

    def test_a_run_that_never_began_is_queued_again(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        ready.do(runs.pause_run, run.id)
        assert ready.do(runs.resume_run, run.id).state == "queued"

    def test_not_after_the_end(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        ready.do(runs.cancel_run, run.id)
        with raises_code(IllegalMove, "illegal_transition", mentions=("cancelled", "paused")) as caught:
            ready.do(runs.pause_run, run.id)
        assert caught.value.hint == "It has ended."
        with pytest.raises(Conflict):
            ready.do(runs.resume_run, run.id)


class TestCancel:
    def test_a_cancelled_run_accepts_no_more_episodes(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(accepts_episodes=True)
        assert ready.do(runs.cancel_run, run.id).accepts_episodes is False

    def test_cancels_waiting_episodes_at_once_and_running_ones_at_the_next_step(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        claim = ready.must_claim(worker)
        ready.do(runs.cancel_run, run.id)
        ready.do(runs.cancel_run, run.id)
        assert states(ready, run) == ["running", "cancelled", "cancelled"]
        ready.do(attempts.finish_cancelled, claim.fence)
        assert states(ready, run) == ["cancelled"] * 3
        summary = ready.do(runs.run_summary, run.id)
        assert summary.counts_text == "0 of 3 episodes scored; 3 cancelled"
        assert summary.lower_bound_success is None

    def test_cancelled_run_cannot_be_retried(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        ready.do(runs.cancel_run, run.id)
        with pytest.raises(Conflict):
            ready.do(runs.retry_run, run.id)

    def test_unknown_run_is_refused(self, ready: World) -> None:
        from uuid_utils.compat import uuid7

        with pytest.raises(NotFound):
            ready.do(runs.cancel_run, uuid7())


class TestRetry:
    def lose_all(self, installation: World, kinds: Sequence[FailureClass]) -> Run:
        worker, run = installation.worker(slots=3), installation.submit()
        for kind in kinds:
            claim = installation.must_claim(worker)
            installation.run_to_evaluation(claim, steps=1)
            installation.lose(claim, kind)
        return run

    def test_lost_episodes_wait_again_and_the_run_continues(self, ready: World) -> None:
        run = self.lose_all(ready, [FailureClass.EVALUATOR] * 3)
        with ready.work() as session:
            assert session.get_one(Run, run.id).state == "completed"
        assert ready.do(runs.retry_run, run.id) == 3
        assert states(ready, run) == ["waiting"] * 3
        with ready.work() as session:
            row = session.get_one(Run, run.id)
            assert (row.state, row.ended_at) == ("running", None)

    def test_only_the_classes_that_are_named(self, ready: World) -> None:
        run = self.lose_all(ready, [FailureClass.EVALUATOR] * 3)
        assert ready.do(runs.retry_run, run.id, failure_classes=[FailureClass.GUEST]) == 0
        with ready.work() as session:
            assert session.get_one(Run, run.id).state == "completed"

    def test_tasks_that_can_run_now_wait(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(requires=("soffice",))))
        installation.worker("poor", node="n1")
        run = installation.submit()
        assert installation.do(runs.retry_run, run.id) == 0
        installation.worker("rich", node="n2", capabilities=capabilities(("soffice",)))
        assert installation.do(runs.retry_run, run.id) == 1
        assert states(installation, run) == ["waiting"]

    def test_scored_episodes_are_not_retried(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",))
        ready.score(ready.must_claim(worker))
        assert ready.do(runs.retry_run, run.id) == 0
        assert states(ready, run) == ["scored"]


class TestOpenRuns:
    def test_stay_running_until_closed(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",), accepts_episodes=True)
        ready.score(ready.must_claim(worker))
        with ready.work() as session:
            assert session.get_one(Run, run.id).state == "running"
        assert ready.do(runs.add_episodes, run.id, ["files/*"], 2) == 4
        with ready.work() as session:
            query = select(Episode.repeat_index).where(Episode.run_id == run.id).order_by(Episode.id)
            assert list(session.scalars(query)) == [1, 2, 1, 3, 2]
        ready.do(runs.close_run, run.id)
        ready.do(runs.close_run, run.id)
        for _ in range(4):
            ready.score(ready.must_claim(worker))
        with ready.work() as session:
            assert session.get_one(Run, run.id).state == "completed"

    def test_open_run_may_start_without_episodes(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(accepts_episodes=True, without_episodes=True)
        assert ready.claim(worker) is None
        assert ready.do(runs.add_episodes, run.id, ["files/a"]) == 1
        ready.score(ready.must_claim(worker))
        assert ready.do(runs.close_run, run.id).state == "completed"

    def test_closed_run_requires_episodes(self, ready: World) -> None:
        ready.worker()
        with raises_code(Invalid, "invalid_request"):
            ready.submit(without_episodes=True)

    def test_empty_open_run_completes_when_closed(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(accepts_episodes=True, without_episodes=True)
        assert ready.do(runs.close_run, run.id).state == "completed"

    def test_a_closed_one_takes_nothing(self, ready: World) -> None:
        ready.worker()
        run = ready.submit()
        with raises_code(Conflict, "run_not_open"):
            ready.do(runs.add_episodes, run.id, ["files/*"])

    def test_closing_one_with_nothing_left_completes_it(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",), accepts_episodes=True)
        ready.score(ready.must_claim(worker))
        assert ready.do(runs.close_run, run.id).state == "completed"


class TestListRuns:
    def test_goes_through_all_in_pages_newest_first(self, ready: World) -> None:
        ready.worker()
        made = [ready.submit().id for _ in range(5)]
        seen, cursor = [], None
        while True:
            with ready.work() as session:
                part = runs.list_runs(session, ready.who(session)[0], cursor=cursor, limit=2)
            seen += [run.id for run in part.items]
            cursor = part.next
            if cursor is None:
                break
        assert seen == made[::-1]

    def test_runs_are_filtered(self, ready: World) -> None:
        ready.worker()
        first, second = ready.submit("noop"), ready.submit("always_fail")
        ready.do(runs.cancel_run, second.id)
        with ready.work() as session:
            project = ready.who(session)[0]

            def ids(**filters: Any) -> list[object]:
                return [run.id for run in runs.list_runs(session, project, **filters).items]

            assert ids(agent="noop") == [first.id]
            assert ids(states=["cancelled"]) == [second.id]
            assert ids(benchmark="starter") == [second.id, first.id]
            assert ids(benchmark="other") == []

    def test_a_broken_cursor_is_reported(self, ready: World) -> None:
        with ready.work() as session, raises_code(Invalid, "invalid_cursor", path="cursor"):
            runs.list_runs(session, ready.who(session)[0], cursor="x")
