"""Workers' reports of models: stored once, summed by endpoint and model."""

from datetime import timedelta
from uuid import uuid4

from sqlalchemy import text

from backend.db.models import Lease
from backend.domain.model.model_usage import UsagePeriod
from backend.domain.model.trajectory import Usage
from backend.services.capacity import model_usage
from backend.services.scheduling import claims
from tests.factories.claims import LIMITED, RATE_LIMIT
from tests.factories.records import World
from worker.models.usage_meter import UsageMeter

DAY = timedelta(days=1)


class TestRecord:
    def test_two_processes_add_up_and_one_may_write_twice(self, installation: World) -> None:
        for _ in range(2):
            meter = UsageMeter()
            for seconds in (1.0, 2.0, 8.0):
                usage = Usage(input_tokens=100, output_tokens=10, usd=0.01, calls=1)
                meter.answered("lab", "m-1", seconds, usage)
            meter.failed("lab", "m-1", "HTTP 500", "HTTP 500: \x00<script>")
            for _ in range(2):
                installation.do(model_usage.record, meter.source, meter.unwritten())
        (row,) = installation.do(model_usage.usage_since, DAY)
        assert (row.endpoint, row.model, row.answered, row.input_tokens, row.failed) == ("lab", "m-1", 6, 600, 2)
        assert row.errors == {"HTTP 500": 2}
        assert row.last_error == "HTTP 500: \N{REPLACEMENT CHARACTER}<script>"
        median, slow = row.seconds(0.5), row.seconds(0.95)
        assert median is not None
        assert slow is not None
        assert 1.8 < median < 2.2
        assert 7.2 < slow < 8.8

    def test_only_of_the_chosen_time(self, installation: World) -> None:
        meter = UsageMeter()
        meter.gave_up("lab", "m-1")
        old = [UsagePeriod.model_validate({**row.model_dump(), "started_at": row.started_at - 3 * DAY, "gave_up": 7})
               for row in meter.unwritten()]  # fmt: skip
        installation.do(model_usage.record, uuid4(), [*old, *meter.unwritten()])
        assert [row.gave_up for row in installation.do(model_usage.usage_since, DAY)] == [1]
        assert [row.gave_up for row in installation.do(model_usage.usage_since, 4 * DAY)] == [8]

    def test_old_rows_are_deleted(self, installation: World) -> None:
        meter = UsageMeter()
        meter.gave_up("lab", "m-1")
        installation.do(model_usage.record, meter.source, meter.unwritten())
        with installation.work() as session:
            session.execute(text("UPDATE model_usage SET started_at = started_at - interval '401 days'"))
        installation.do(model_usage.prune)
        assert installation.do(model_usage.usage_since, timedelta(days=4000)) == []


class TestWait:
    def test_a_heartbeat_says_what_is_waited_for_and_writes_it_once(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit()
        claim = ready.must_claim(worker)

        def stored(beat: dict[object, object]) -> tuple[object, ...]:
            ready.do(claims.worker_heartbeat, worker.id, [claim.lease_id], beat)
            with ready.work() as session:
                lease = session.get_one(Lease, claim.lease_id)
                return lease.wait_reason, lease.model_wait, lease.heartbeat_at

        reason, wait, first = stored({claim.lease_id: LIMITED})
        assert isinstance(wait, dict)
        assert (reason, wait["words"], wait["endpoint"]) == ("model_rate_limit", RATE_LIMIT, "lab")
        assert wait["since"] < str(first).replace(" ", "T") < wait["retry_at"]
        later = LIMITED.model_copy(update={"seconds": 16.0, "retry_seconds": 18.0})
        _, same, second = stored({claim.lease_id: later})
        assert same == wait
        assert second != first
        slow = LIMITED.model_copy(update={"limited": False, "retry_seconds": None, "words": ""})
        assert stored({claim.lease_id: slow})[0] == ""
        assert stored({})[1] is None
