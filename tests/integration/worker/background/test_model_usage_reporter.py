"""Whether what a worker process asked of models reaches the database, through outages and its end."""

from datetime import timedelta

import pytest
from sqlalchemy.orm import Session

from backend.domain.errors import Unavailable
from backend.domain.model.trajectory import Usage
from backend.services.capacity import model_usage
from tests.factories.records import World
from tests.waiting import until
from worker.background.model_usage_reporter import ModelUsageReporter
from worker.base.database import Database
from worker.models.usage_meter import UsageMeter

DAY = timedelta(days=1)


def answered(world: World) -> int:
    return sum(row.answered for row in world.do(model_usage.usage_since, DAY))


class TestReports:
    def test_while_it_runs_and_when_it_ends(self, world: World) -> None:
        meter = UsageMeter()
        reporter = ModelUsageReporter(Database(world.factory), meter, every=0.05)
        reporter.start()
        meter.answered("lab", "m-1", 1.0, Usage(calls=1))
        until(lambda: answered(world) == 1)
        meter.answered("lab", "m-1", 1.0, Usage(calls=1))
        reporter.stop()
        assert answered(world) == 2
        assert meter.unwritten() == []

    def test_usage_of_an_outage_is_written_after_it(self, world: World, monkeypatch: pytest.MonkeyPatch) -> None:
        meter = UsageMeter()
        reporter = ModelUsageReporter(Database(world.factory), meter)
        meter.answered("lab", "m-1", 1.0, Usage(calls=1))

        def away(_session: Session, *_: object) -> None:
            raise Unavailable("the database is away", code="database_unavailable")

        with monkeypatch.context() as patched:
            patched.setattr(model_usage, "record", away)
            with pytest.raises(Unavailable):
                reporter.report()
            reporter.stop()
        meter.answered("lab", "m-1", 1.0, Usage(calls=1))
        reporter.report()
        assert answered(world) == 2
