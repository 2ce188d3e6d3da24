"""Why episodes wait and what limits a run, on a real PostgreSQL; and what changes it in mid-run."""

from datetime import timedelta
from uuid import UUID

import pytest
from sqlalchemy import event, select, text

from backend.db.models import Episode, Run
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.reason import ReasonCode
from backend.services import events
from backend.services.capacity.scheduling_fields import SchedulingUpdate
from backend.services.lifecycle import lease_reaper
from backend.services.runs import runs, scheduling_settings
from backend.services.runs.episodes import WaitView
from backend.services.runs.views import home
from backend.services.scheduling import claims
from backend.services.scheduling.wait_reasons import concurrency_of, explain
from tests.error_codes import raises_code
from tests.factories.claims import LIMITED
from tests.factories.records import World, capabilities
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.services.capacity.test_licences import seats
from tests.integration.services.people.test_human_agent import with_human


@pytest.fixture
def queued(installation: World) -> World:
    """An installation with a benchmark of 12 tasks."""
    installation.benchmark(make_benchmark(*(make_task(name=f"t{n:02}") for n in range(12))))
    return installation


def why(world: World, run: Run) -> list[WaitView]:
    """Of the run's waiting episodes, in the order of submission."""
    with world.work() as session:
        rows = session.scalars(select(Episode).where(Episode.run_id == run.id).order_by(Episode.id)).all()
        found = explain(session, rows)
        return [found[row.id] for row in rows if row.id in found]


def lasts(world: World, expected: float, since: float) -> None:
    """Sets the expected seconds of every episode, and the age of running attempts."""
    with world.work() as session:
        session.execute(text("UPDATE episode SET estimated_seconds = :expected"), {"expected": expected})
        began = text("UPDATE attempt SET started_at = clock_timestamp() - make_interval(secs => :since) WHERE live")
        session.execute(began, {"since": since})


def in_seconds(world: World, found: WaitView) -> float:
    """From now on."""
    assert found.starts_at is not None
    at = world.do(lambda session: session.scalar(text("SELECT clock_timestamp()")))
    return float((found.starts_at - at).total_seconds())


def limited(world: World, run: Run) -> tuple[int, int, ReasonCode]:
    """The run's share of the slots, and why it is not larger."""
    limit = world.do(concurrency_of, run.id)
    assert limit is not None
    return limit.limit, limit.slots, limit.limiting_factor.code


class TestExplain:
    def test_says_whose_turn_comes_first_and_about_when(self, queued: World) -> None:
        worker, run = queued.worker(slots=2), queued.submit()
        queued.do(claims.claim_many, worker.id, "local", 2)
        with queued.work() as session:
            session.execute(text("UPDATE episode SET estimated_seconds = 1000"))
            at = session.scalar(text("SELECT now()"))
        first, second, *_ = why(queued, run)
        assert first.reason == "2 of 2 desktops in use; next in its run"
        assert first.reason_code is ReasonCode.DESKTOPS_IN_USE
        assert (first.episodes_ahead, second.episodes_ahead) == (0, 1)
        assert second.starts_at is not None
        assert timedelta(seconds=900) < second.starts_at - at < timedelta(seconds=1100)

    def test_running_episodes_have_to_end_first(self, queued: World) -> None:
        worker, run = queued.worker(slots=1), queued.submit()
        (claim,) = queued.do(claims.claim_many, worker.id, "local", 1)
        lasts(queued, 1000, 300)
        first, second, *_ = why(queued, run)
        assert 600 < in_seconds(queued, first) <= 700
        assert 1600 < in_seconds(queued, second) <= 1700
        # Of a later attempt its own time counts.
        queued.lose(claim)
        queued.do(claims.claim_many, worker.id, "local", 1)
        assert 900 < in_seconds(queued, why(queued, run)[0]) <= 1000
        # It takes longer than expected: nobody knows how much.
        lasts(queued, 1000, 1300)
        first, second, *_ = why(queued, run)
        assert first.starts_at is None
        assert 900 < in_seconds(queued, second) <= 1000

    def test_gives_no_time_where_nothing_may_begin(self, queued: World) -> None:
        worker, run = queued.worker(slots=4), queued.submit()
        assert len(queued.do(claims.claim_many, worker.id, "local", 2)) == 2
        assert why(queued, run)[0] == WaitView(
            reason="about to start", reason_code=ReasonCode.STARTING, episodes_ahead=0
        )
        queued.do(scheduling_settings.set_rules, "default", {"quota": {"local": 2}})
        assert in_seconds(queued, why(queued, run)[0]) > 0
        queued.do(scheduling_settings.set_rules, "default", {"quota": {"local": 0}})
        assert why(queued, run)[0] == WaitView(
            reason="project quota reached: 2 of 0 local desktops",
            reason_code=ReasonCode.QUOTA_REACHED,
            episodes_ahead=0,
        )
        queued.do(scheduling_settings.set_rules, "default", {"quota": {}, "reserved": {"local": 4}})
        assert why(queued, run)[0] == WaitView(
            reason="free desktops are reserved for interactive episodes",
            reason_code=ReasonCode.DESKTOPS_RESERVED,
            episodes_ahead=0,
        )

    def test_gives_no_time_where_others_take_what_becomes_free(self, queued: World) -> None:
        worker, run = queued.worker(slots=2), queued.submit()
        (first, _) = queued.do(claims.claim_many, worker.id, "local", 2)
        assert in_seconds(queued, why(queued, run)[0]) > 0
        queued.do(claims.worker_heartbeat, worker.id, [first.lease_id], {first.lease_id: LIMITED})
        assert why(queued, run)[0].starts_at is None
        queued.do(claims.worker_heartbeat, worker.id, [first.lease_id], {})
        assert in_seconds(queued, why(queued, run)[0]) > 0
        queued.submit(priority=3)
        assert why(queued, run)[0].starts_at is None

    def test_says_what_is_more_urgent(self, queued: World) -> None:
        worker, run = queued.worker(slots=1), queued.submit()
        urgent = queued.submit()
        queued.do(scheduling_settings.update_scheduling, urgent.id, SchedulingUpdate(priority=3))
        queued.do(claims.claim_many, worker.id, "local", 1)
        assert why(queued, run)[0].reason == (
            "the only desktop is in use; next in its run; 11 episodes of higher-priority runs first"
        )

    def test_a_more_urgent_run_that_can_begin_nothing_comes_before_nobody(self, queued: World) -> None:
        worker, run = queued.worker(slots=8), queued.submit()
        urgent = queued.submit()
        queued.do(scheduling_settings.update_scheduling, urgent.id, SchedulingUpdate(priority=3, concurrency=2))
        assert why(queued, run)[7].reason == (
            "0 of 8 desktops in use; 7 episodes of the run first; 2 episodes of higher-priority runs first"
        )
        assert len(queued.do(claims.claim_many, worker.id, "local", 2)) == 2
        assert why(queued, run)[0].reason_code is ReasonCode.STARTING

    def test_says_what_nobody_can_do(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(requires=("gimp",))))
        gone = installation.worker(capabilities=capabilities(("gimp",)))
        run = installation.submit()
        assert why(installation, run)[0].reason_code is ReasonCode.STARTING
        installation.do(claims.drain, gone.id)
        assert why(installation, run)[0].reason_code is ReasonCode.PROVIDER_NOT_OFFERED
        installation.worker("poor", node="n2", pid=2)
        assert why(installation, run)[0] == WaitView(
            reason="no online worker has the program gimp", reason_code=ReasonCode.PROGRAMS_NOT_INSTALLED
        )

    def test_says_why_a_worker_cannot_use_the_provider_now(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task()))
        first = installation.worker()
        run = installation.submit()
        installation.do(claims.drain, first.id)
        away = {**capabilities(), "providers": {"local": {"ok": False, "reason": "the API server does not answer"}}}
        installation.worker("w2", node="n2", pid=2, capabilities=away)
        (reason,) = why(installation, run)
        assert reason.reason_code is ReasonCode.PROVIDER_UNAVAILABLE
        assert "the API server does not answer" in reason.reason
        assert limited(installation, run) == (0, 2, ReasonCode.PROVIDER_UNAVAILABLE)
        installation.worker("w3", node="n3", pid=3)
        assert why(installation, run)[0].reason_code is ReasonCode.STARTING

    def test_says_what_keeps_workers_from_beginning_anything(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task()))
        installation.worker(capabilities={**capabilities(), "hindrance": "the artifact store does not accept data"})
        run = installation.submit()
        (reason,) = why(installation, run)
        assert reason.reason_code is ReasonCode.WORKERS_BLOCKED
        assert "the artifact store does not accept data" in reason.reason
        assert limited(installation, run) == (0, 2, ReasonCode.WORKERS_BLOCKED)
        installation.worker("w2", node="n2", pid=2)
        assert why(installation, run)[0].reason_code is ReasonCode.STARTING

    def test_asks_the_database_as_often_for_many_as_for_one(self, queued: World) -> None:
        queued.worker(slots=1)
        run = queued.submit(repeats=4)
        asked: list[str] = []
        with queued.work() as session:
            rows = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
            listener = lambda *given: asked.append(given[2])  # noqa: E731
            event.listen(session.get_bind(), "before_cursor_execute", listener)
            try:
                explain(session, rows[:1])
                one = len(asked)
                explain(session, rows)
            finally:
                event.remove(session.get_bind(), "before_cursor_execute", listener)
        assert len(rows) == 48
        assert len(asked) - one <= one

    def test_says_nothing_of_what_does_not_wait(self, queued: World) -> None:
        worker, run = queued.worker(slots=12), queued.submit()
        queued.do(claims.claim_many, worker.id, "local", 12)
        assert why(queued, run) == []

    def test_says_nothing_of_a_run_that_has_just_ended(self, queued: World) -> None:
        queued.worker()
        run, _ = queued.submit(), queued.submit()
        with queued.work() as session:
            rows = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
            queued.do(runs.cancel_run, run.id)
            assert {row.state for row in rows} == {"waiting"}
            assert explain(session, rows) == {}

    def test_a_run_that_ended_meanwhile_has_none_though_a_later_one_waits(self, queued: World) -> None:
        queued.worker()
        run, _later = queued.submit(), queued.submit()
        with queued.work() as session:
            waiting = session.scalars(select(Episode).where(Episode.run_id == run.id)).all()
            assert len(explain(session, waiting)) == 12
        queued.do(runs.cancel_run, run.id)
        assert queued.do(explain, waiting) == {}


class TestConcurrencyOf:
    def test_all_episodes_have_begun(self, queued: World) -> None:
        worker, run = queued.worker(slots=14), queued.submit()
        queued.do(claims.claim_many, worker.id, "local", 12)
        assert limited(queued, run) == (12, 14, ReasonCode.NO_MORE_EPISODES)

    def test_names_what_limits_it(self, queued: World) -> None:
        worker, run = queued.worker(slots=8), queued.submit()
        assert limited(queued, run) == (8, 8, ReasonCode.ALL_SLOTS)
        (claim,) = queued.do(claims.claim_many, worker.id, "local", 1)
        queued.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {claim.lease_id: LIMITED})
        assert limited(queued, run) == (1, 8, ReasonCode.MODEL_RATE_LIMIT)
        assert why(queued, run)[0].reason_code is ReasonCode.MODEL_RATE_LIMIT
        queued.do(runs.pause_run, run.id)
        assert limited(queued, run) == (0, 8, ReasonCode.RUN_PAUSED)
        queued.do(runs.cancel_run, run.id)
        assert queued.do(concurrency_of, run.id) is None

    def test_knows_what_more_urgent_runs_leave(self, queued: World) -> None:
        worker, run = queued.worker(slots=8), queued.submit()
        urgent = queued.submit()
        queued.do(scheduling_settings.update_scheduling, urgent.id, SchedulingUpdate(priority=3, concurrency=5))
        assert limited(queued, run) == (3, 8, ReasonCode.HIGHER_PRIORITY_RUNS)
        queued.do(claims.claim_many, worker.id, "local", 8)
        assert limited(queued, run) == (3, 8, ReasonCode.HIGHER_PRIORITY_RUNS)
        queued.do(scheduling_settings.update_scheduling, urgent.id, SchedulingUpdate(priority=3, concurrency=12))
        assert limited(queued, run) == (3, 8, ReasonCode.HIGHER_PRIORITY_RUNS)
        assert limited(queued, urgent) == (8, 8, ReasonCode.ALL_SLOTS)

    def test_a_more_urgent_run_leaves_what_its_model_keeps_from_it(self, queued: World) -> None:
        worker, urgent = queued.worker(slots=8), queued.submit(priority=3)
        (claim,) = queued.do(claims.claim_many, worker.id, "local", 1)
        run = queued.submit()
        queued.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {claim.lease_id: LIMITED})
        assert limited(queued, urgent) == (1, 8, ReasonCode.MODEL_RATE_LIMIT)
        assert limited(queued, run) == (7, 8, ReasonCode.HIGHER_PRIORITY_RUNS)

    def test_says_whom_episodes_wait_for_that_do_not_begin_by_themselves(self, queued: World) -> None:
        queued.worker(capabilities=with_human())
        run = queued.submit("human")
        assert limited(queued, run) == (0, 2, ReasonCode.PERSON)
        worker, run = queued.worker(slots=12, node="n2"), queued.submit()
        begun = queued.do(claims.claim_many, worker.id, "local", 9)
        assert len(begun) == 9
        held = text(
            "UPDATE episode SET available_at = '9998-01-01', reason = :why, reason_code = 'reevaluation'"
            " WHERE state = 'waiting'"
        )
        with queued.work() as session:
            session.execute(held, {"why": "there was no verdict; the evaluation is repeated"})
        assert limited(queued, run) == (9, 14, ReasonCode.REEVALUATION)
        queued.do(claims.worker_heartbeat, worker.id, [begun[0].lease_id], {begun[0].lease_id: LIMITED})
        assert limited(queued, run) == (9, 14, ReasonCode.MODEL_RATE_LIMIT)


class TestFirstPage:
    """It counts by the reasons that each episode's own page gives."""

    def queue(self, world: World) -> dict[ReasonCode, int]:
        return {wait.reason.code: wait.episodes for wait in world.do(home.home).queue}

    def test_says_what_nobody_can_do_though_there_are_slots(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(name="a", requires=("gimp",)), make_task(name="b")))
        gone = installation.worker(capabilities=capabilities(("gimp",)))
        run = installation.submit(repeats=2)
        installation.do(claims.drain, gone.id)
        nobody = {ReasonCode.PROVIDER_NOT_OFFERED: 4}
        assert self.queue(installation) == nobody
        installation.worker("poor", node="n2", pid=2)
        assert self.queue(installation) == {
            ReasonCode.PROGRAMS_NOT_INSTALLED: 2,
            ReasonCode.DESKTOPS_IN_USE: 2,
        }
        installation.do(runs.pause_run, run.id)
        assert self.queue(installation) == {ReasonCode.RUN_PAUSED: 4}

    def test_says_what_lacks_seats_and_what_its_run_s_limit_holds(self, installation: World) -> None:
        installation.benchmark(make_benchmark(make_task(name="a", licences={"Photoshop": 1}), make_task(name="b")))
        seats(installation, "Photoshop", 1)
        worker, run = installation.worker(slots=9), installation.submit(repeats=3)
        seats(installation, "Photoshop", 0)
        installation.do(scheduling_settings.update_scheduling, run.id, SchedulingUpdate(concurrency=1))
        assert len(installation.do(claims.claim_many, worker.id, "local", 9)) == 1
        assert self.queue(installation) == {
            ReasonCode.LICENCE_IN_USE: 3,
            ReasonCode.CONCURRENCY_LIMIT: 2,
        }


class TestRetuneRun:
    def test_holds_from_the_next_claim_on_and_is_reported(self, queued: World) -> None:
        worker, run = queued.worker(slots=9), queued.submit()
        before = run.config_hash
        for _ in range(2):
            queued.do(scheduling_settings.update_scheduling, run.id, SchedulingUpdate(concurrency=2, priority=4))
        assert len(queued.do(claims.claim_many, worker.id, "local", 9)) == 2
        assert limited(queued, run) == (2, 9, ReasonCode.CONCURRENCY_LIMIT)
        queued.do(scheduling_settings.update_scheduling, run.id, SchedulingUpdate(concurrency=None))
        assert len(queued.do(claims.claim_many, worker.id, "local", 9)) == 7
        with queued.work() as session:
            told = [row.data for row in events.list_after(session, run.id) if row.kind == "run_tuned"]
            row = session.get_one(Run, run.id)
            assert (row.priority, row.concurrency, row.config_hash) == (4, None, before)
        assert told == [{"priority": 4, "concurrency": 2}, {"concurrency": None}]

    def test_not_of_a_run_that_has_ended(self, queued: World) -> None:
        _, run = queued.worker(), queued.submit()
        queued.do(runs.cancel_run, run.id)
        with raises_code(Conflict, "run_ended", mentions="cancelled"):
            queued.do(scheduling_settings.update_scheduling, run.id, SchedulingUpdate(priority=1))
        with pytest.raises(NotFound):
            queued.do(scheduling_settings.update_scheduling, UUID(int=0), SchedulingUpdate(priority=1))


class TestSetRules:
    def test_holds_from_the_next_claim_on(self, queued: World) -> None:
        worker, _ = queued.worker(slots=9), queued.submit()
        row = queued.do(scheduling_settings.set_rules, "default", {"quota": {"local": 3}})
        assert row.quota == {"local": 3}
        assert len(queued.do(claims.claim_many, worker.id, "local", 9)) == 3
        (row,) = queued.do(scheduling_settings.list_projects)
        assert (row.name, row.in_use, row.weight) == ("default", {"local": 3}, 1.0)
        assert queued.do(scheduling_settings.set_rules, "default", {"weight": 2.0}).quota == {"local": 3}

    def test_refuses_what_makes_no_sense(self, queued: World) -> None:
        queued.worker()
        queued.submit()
        with pytest.raises(Invalid):
            queued.do(scheduling_settings.set_rules, "default", {"weight": 0})
        with pytest.raises(NotFound):
            queued.do(scheduling_settings.set_rules, "nobody", {"weight": 1})

    def test_knows_providers_before_and_after_their_workers(self, queued: World) -> None:
        rules = {"quota": {"all": 9, "k8s": 8, "qemu": 1}, "reserved": {"local": 1}}
        with queued.work() as session:
            queued.who(session)
        assert queued.do(scheduling_settings.set_rules, "default", rules).quota == rules["quota"]
        with raises_code(Invalid, "invalid_request", path="quota.vnc", mentions="all, k8s, local, qemu"):
            queued.do(scheduling_settings.set_rules, "default", {"quota": {"vnc": 1}})
        worker = queued.worker(capabilities=capabilities(vnc={"ok": False, "reason": "", "programs": []}))
        queued.do(lease_reaper.sign_off, worker.id)
        queued.do(scheduling_settings.set_rules, "default", {"quota": {"vnc": 1}})

    def test_slots_are_reserved_by_provider_only(self, queued: World) -> None:
        with queued.work() as session:
            queued.who(session)
        with raises_code(Invalid, "invalid_request", path="reserved.all", mentions="only k8s, local, qemu"):
            queued.do(scheduling_settings.set_rules, "default", {"reserved": {"all": 1}})
