"""Slots on the first page, and the work there that needs a person."""

import pytest
from sqlalchemy import text

from backend.domain.errors import FailureClass
from backend.services.lifecycle.lease_reaper import sign_off
from backend.services.runs.views import home
from backend.services.scheduling import claims
from tests.factories.claims import LIMITED, RATE_LIMIT
from tests.factories.records import World
from worker.scheduling.dispatcher import SHUTDOWN


def alarms(world: World) -> list[tuple[str, str]]:
    return [(alarm.kind, alarm.title) for alarm in world.do(home.home).alarms]


class TestWorkersThatWentAway:
    """Only one that died is a person's concern: workers are stopped whenever there are fewer of them to be."""

    @pytest.mark.parametrize("told", [True, False], ids=["its attempts ended by itself", "ended by its sign-off"])
    def test_an_orderly_stop_is_not_an_alarm(self, ready: World, *, told: bool) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        if told:
            ready.do(claims.release_lease, claim.lease_id, SHUTDOWN)
        ready.do(sign_off, worker.id)
        assert alarms(ready) == []

    def test_an_attempt_lost_to_its_node_is_none_of_the_worker_that_stopped_later(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        ready.do(claims.release_lease, ready.must_claim(worker).lease_id, "its node was lost: it does not answer")
        ready.do(sign_off, worker.id)
        assert alarms(ready) == []

    def test_silent_worker_raises_an_alarm(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        ready.must_claim(worker)
        ready.do(claims.reap, lease_seconds=-1.0)
        assert alarms(ready) == [("worker", "w1")]

    def test_dead_worker_raises_an_alarm(self, ready: World) -> None:
        dead = ready.worker("old", pid=100)
        ready.submit()
        ready.must_claim(dead)
        ready.worker("new", pid=200, running=lambda _: False)
        assert alarms(ready) == [("worker", "old")]

    def test_alarm_ends_when_another_worker_replaces_it(self, ready: World) -> None:
        dead = ready.worker("old", pid=100)
        ready.submit()
        ready.must_claim(dead)
        ready.worker("new", pid=200, running=lambda _: False)
        with ready.work() as session:
            session.execute(text("UPDATE worker SET heartbeat_at = now() - interval '9 min' WHERE name = 'old'"))
            session.execute(text("UPDATE worker SET started_at = now() - interval '6 min' WHERE name = 'new'"))
        assert alarms(ready) == []

    def test_idle_worker_raises_no_alarm(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        ready.lose(ready.must_claim(worker), FailureClass.GUEST)
        ready.do(claims.reap, lease_seconds=-1.0)
        assert alarms(ready) == []


class TestPassingAlarms:
    """They are there as long as their cause is, and lead to it."""

    def test_late_heartbeat_is_a_passing_alarm(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        assert alarms(ready) == []
        with ready.work() as session:
            session.execute(text("UPDATE lease SET heartbeat_at = now() - interval '6 s'"))
        (alarm,) = ready.do(home.home).alarms
        assert (alarm.kind, alarm.title, alarm.link) == ("silent", "w1", "/workers")
        assert alarm.remedy[1].startswith("/docs/")
        ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id])
        assert alarms(ready) == []

    def test_an_endpoint_whose_errors_are_waited_out(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)
        for seconds, expected in ((14.0, []), (75.0, [("endpoint", "lab")])):
            wait = LIMITED.model_copy(update={"seconds": seconds, "call": int(seconds)})
            ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id], {claim.lease_id: wait})
            assert alarms(ready) == expected
        (alarm,) = ready.do(home.home).alarms
        assert (alarm.link, RATE_LIMIT in alarm.text) == ("/endpoints#lab", True)
        ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id])
        assert alarms(ready) == []
