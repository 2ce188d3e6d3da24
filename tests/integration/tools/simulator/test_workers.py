"""Writes of a simulated worker about an attempt, and their times."""

from datetime import datetime

import pytest
from sqlalchemy import select

from backend.db.models import Artifact, Attempt, Event, Step
from backend.services.events import EventKind
from tools.simulator.clock import SimulationClock
from tools.simulator.durations import Length
from tools.simulator.installations import ProjectShare, import_tasks, submit_all, virtual_time
from tools.simulator.journal import Journal
from tools.simulator.timelines import VirtualTime
from tools.simulator.workers import AttemptOutcome, SimulatedWorker, SimulationContext


@pytest.mark.parametrize("steps", [0, 2])
def test_steps_are_spread_over_the_time_in_which_the_agent_acts(postgres_server: str, steps: int) -> None:
    clock = SimulationClock()
    with virtual_time(postgres_server, clock) as world:
        import_tasks(world, 1)
        timeline, journal = VirtualTime(clock), Journal()
        setting = SimulationContext(
            world, timeline, journal, lambda _: AttemptOutcome(Length(5.0, 60.0, 8.0), steps=steps)
        )
        worker = SimulatedWorker(setting, "n0", slots=1)
        submit_all(world, [ProjectShare("a")])
        worker.start()
        timeline.run(lambda: bool(journal.ended), most=600.0)
        with world.work() as session:
            began, ended = session.execute(select(Attempt.started_at, Attempt.ended_at)).one()
            times = session.scalars(select(Event.created_at).where(Event.kind == EventKind.STEP).order_by(Event.seq))
            pictures = session.scalars(select(Step.frame_sha256).order_by(Step.index)).all()
            known = session.scalars(select(Artifact.sha256)).all()

            def after(moment: datetime | None) -> float:
                assert moment is not None
                return float((moment - began).total_seconds())

            assert [after(moment) for moment in times] == pytest.approx([25.0, 45.0][:steps], abs=0.01)
            assert after(ended) == pytest.approx(73.0, abs=0.01)
        assert worker.errors == []
        assert len(set(pictures)) == steps
        assert set(pictures) <= set(known)
