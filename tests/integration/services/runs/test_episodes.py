"""Reading episodes with their attempts, steps and evaluations."""

from uuid import UUID

import pytest
from uuid_utils.compat import uuid7

from backend.domain.errors import FailureClass, NotFound
from backend.services.runs import episodes
from tests.factories.records import World


def in_pages(installation: World, **filters: object) -> list[UUID]:
    seen: list[UUID] = []
    cursor = None
    while True:
        part = installation.do(episodes.list_episodes, cursor=cursor, limit=4, **filters)
        seen += [row.episode.id for row in part.items]
        cursor = part.next
        if cursor is None:
            return seen


class TestListEpisodes:
    def test_pages_give_each_once_also_while_others_are_added(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(repeats=5)
        first = ready.do(episodes.list_episodes, run_id=run.id, limit=4)
        ready.submit(repeats=5)
        rest = ready.do(episodes.list_episodes, run_id=run.id, limit=500, cursor=first.next)
        seen = [row.episode.id for row in first.items + rest.items]
        assert len(seen) == len(set(seen)) == 15
        assert in_pages(ready, run_id=run.id) == seen
        assert in_pages(ready, run_id=run.id, newest_first=True) == seen[::-1]

    def test_episodes_are_filtered(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit()
        claim = ready.must_claim(worker)
        ready.score(claim)
        assert in_pages(ready, run_id=run.id, states=["scored"]) == [claim.episode_id]
        assert len(in_pages(ready, run_id=run.id, domain="editor")) == 1
        assert len(in_pages(ready, run_id=run.id, difficulty="unlabelled")) == 3
        assert in_pages(ready, task_id=claim.task_id) == [claim.episode_id]

    def test_comes_with_the_newest_attempt(self, ready: World) -> None:
        worker, run = ready.worker(slots=1), ready.submit(tasks=("files/a",))
        ready.lose(ready.must_claim(worker), FailureClass.GUEST)
        ready.score(ready.must_claim(worker))
        (row,) = ready.do(episodes.list_episodes, run_id=run.id).items
        assert row.attempt.number == 2
        assert row.seconds["setup"] == 1.0
        assert (row.task.key, row.episode.attempt_count) == ("files/a", 2)


class TestOneEpisode:
    def test_everything_about_it(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        lost, scored = ready.must_claim(worker), None
        ready.lose(lost, FailureClass.GUEST)
        scored = ready.must_claim(worker)
        ready.score(scored, 0.5, steps=3)
        with ready.work() as session:
            row = episodes.get_episode(session, scored.episode_id)
            assert row.episode.score == 0.5
            assert [a.state for a in episodes.attempts(session, scored.episode_id)] == ["lost", "scored"]
            counted = episodes.counted_attempt(session, scored.episode_id)
            assert counted is not None
            assert counted.id == scored.attempt_id
            assert [step.index for step in episodes.steps(session, scored.attempt_id)] == [0, 1, 2]
            assert [step.index for step in episodes.steps(session, scored.attempt_id, after=0, limit=1)] == [1]
            (verdict,) = episodes.evaluations(session, [lost.attempt_id, scored.attempt_id])
            assert (verdict.evaluation.current, verdict.measures) == (True, {"S_int": 0.5, "score": 0.5})

    def test_before_the_first_attempt(self, ready: World) -> None:
        ready.worker()
        run = ready.submit(tasks=("files/a",))
        (row,) = ready.do(episodes.list_episodes, run_id=run.id).items
        assert (row.attempt, row.seconds) == (None, {})
        assert ready.do(episodes.counted_attempt, row.episode.id) is None

    def test_unknown_episode_and_attempt_are_refused(self, ready: World) -> None:
        with pytest.raises(NotFound):
            ready.do(episodes.get_episode, uuid7())
        with pytest.raises(NotFound):
            ready.do(episodes.get_attempt, uuid7())
