"""The decisions that the agent `replay` repeats."""

from uuid import UUID

from sqlalchemy import select

from backend.db.models import Episode, Task
from backend.domain.model.run import RunConfig
from backend.domain.model.trajectory import Decision
from backend.services.runs.replays import recorded_decisions
from tests.factories.records import World


def decisions(installation: World, episode_id: UUID, **params: str) -> tuple[Decision, ...]:
    with installation.work() as session:
        episode = session.get_one(Episode, episode_id)
        config = RunConfig(agent="replay", params=params)
        return recorded_decisions(session, config, session.get_one(Task, episode.task_id), episode.repeat_index)


class TestRecordedDecisions:
    def test_the_newest_scored_episode_of_the_task(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit("noop", tasks=("files/a",))
        ready.score(ready.must_claim(worker), steps=2)
        ready.submit("replay", tasks=("files/a",))
        claim = ready.must_claim(worker)
        assert [decision.explanation for decision in claim.trajectory] == ["I click", "I click"]

    def test_no_decisions_without_a_recording(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit("replay", tasks=("files/a",))
        assert ready.must_claim(worker).trajectory == ()

    def test_other_agents_get_none(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit("noop", tasks=("files/a",), repeats=2)
        ready.score(ready.must_claim(worker))
        assert ready.must_claim(worker).trajectory == ()

    def test_final_state_is_not_a_decision(self, ready: World) -> None:
        worker = ready.worker()
        ready.submit("noop", tasks=("files/a",))
        claim = ready.must_claim(worker)
        ready.step(claim, 0)
        ready.step(claim, 1, final=True)
        assert len(decisions(ready, claim.episode_id, episode=str(claim.episode_id))) == 1

    def test_a_named_run_gives_its_episode_of_the_same_task_and_repeat(self, ready: World) -> None:
        worker = ready.worker()
        source = ready.submit("noop", tasks=("files/a", "files/b"), repeats=2)
        for steps in (1, 2, 3, 4):
            ready.score(ready.must_claim(worker), steps=steps)
        replay = ready.submit("replay", tasks=("files/b",), repeats=3)
        with ready.work() as session:
            mine = list(session.scalars(select(Episode.id).where(Episode.run_id == replay.id).order_by(Episode.id)))
        assert [len(decisions(ready, key, run=str(source.id))) for key in mine] == [2, 4, 4]
