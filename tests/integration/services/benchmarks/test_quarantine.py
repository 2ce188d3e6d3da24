"""Quarantine: no new measurements, stored scores stop counting and count again, unchanged tasks stay in it."""

from uuid import UUID

import pytest
from sqlalchemy import select

from backend.db.models import Quarantine, Run, Task
from backend.db.repositories.common_queries import looks_by_run
from backend.db.repositories.results import failure_labels
from backend.domain.errors import Conflict, FailureClass, Invalid, NotFound
from backend.domain.model.outcome_style import OutcomeStyle
from backend.services.benchmarks import quarantine
from backend.services.benchmarks.benchmarks import latest_task_set
from backend.services.benchmarks.views.quarantine import history_of, quarantines
from backend.services.results.leaderboards import leaderboard
from backend.services.runs.summary import RunSummary, run_summary
from tests.error_codes import raises_code
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task

REASON = "the checker fails on every second day"


def task_ids(world: World) -> list[UUID]:
    """Tasks of the newest version, in the order of their episodes."""
    with world.work() as session:
        newest = latest_task_set(session, "starter")
        return list(session.scalars(select(Task.id).where(Task.task_set_id == newest.id).order_by(Task.id)))


def set_aside(world: World, task_id: UUID, reason: str = REASON) -> None:
    with world.work() as session:
        quarantine.quarantine_task(session, task_id, reason, world.who(session)[1])


def lift(world: World, task_id: UUID, reason: str = "mended") -> None:
    with world.work() as session:
        quarantine.lift_quarantine(session, task_id, reason, world.who(session)[1])


def summary(world: World, run: Run) -> RunSummary:
    result: RunSummary = world.do(run_summary, run.id)
    return result


@pytest.fixture
def scored(ready: World) -> tuple[Run, dict[UUID, float | None]]:
    """A run with the scores 1, 0 and a lost episode, by task."""
    worker, run, scores = ready.worker(slots=1), ready.submit("random"), {}
    for score in (1.0, 0.0, None):
        claim = ready.must_claim(worker)
        scores[claim.task_id] = score
        if score is None:
            ready.lose(claim, FailureClass.EVALUATOR)
        else:
            ready.score(claim, score)
    return run, scores


class TestStoredScores:
    def test_scores_are_excluded_until_the_quarantine_is_lifted(
        self, ready: World, scored: tuple[Run, dict[UUID, float | None]]
    ) -> None:
        run, scores = scored
        solved = next(task for task, score in scores.items() if score == 1.0)
        set_aside(ready, solved)
        aside = summary(ready, run)
        assert (aside.mean_score, aside.solved, aside.counts.scored, aside.counts.quarantined) == (0.0, 0, 1, 1)
        assert aside.episodes == 3
        lift(ready, solved)
        assert (summary(ready, run).mean_score, summary(ready, run).counts.quarantined) == (0.5, 0)

    def test_a_lost_episode_leaves_the_lower_bound(
        self, ready: World, scored: tuple[Run, dict[UUID, float | None]]
    ) -> None:
        run, scores = scored
        assert summary(ready, run).lower_bound_mean == pytest.approx(1 / 3)
        set_aside(ready, next(task for task, score in scores.items() if score is None))
        assert (summary(ready, run).lower_bound_mean, summary(ready, run).lost) == (0.5, {})

    def test_boards_are_computed_again(self, ready: World, scored: tuple[Run, dict[UUID, float | None]]) -> None:
        _, scores = scored
        ready.roll_up()
        assert not ready.do(leaderboard, "starter").stale
        set_aside(ready, next(task for task, score in scores.items() if score == 0.0))
        assert ready.do(leaderboard, "starter").stale
        assert ready.roll_up() == 1
        board = ready.do(leaderboard, "starter")
        assert (board.tasks.number, board.rows[0].summary.mean_score, board.rows[0].missing_tasks) == (2, 1.0, 1)

    def test_failures_are_not_counted_either(self, ready: World, scored: tuple[Run, dict[UUID, float | None]]) -> None:
        run, scores = scored
        assert len(ready.do(failure_labels.failed, run.id)) == 1
        set_aside(ready, next(task for task, score in scores.items() if score == 0.0))
        assert ready.do(failure_labels.failed, run.id) == []

    def test_bars_count_them_by_themselves(self, ready: World, scored: tuple[Run, dict[UUID, float | None]]) -> None:
        run, scores = scored
        for task in scores:
            set_aside(ready, task)
        looks = {look: count for _, look, count in ready.do(looks_by_run, [run.id])}
        assert looks[OutcomeStyle.QUARANTINED] == len(scores)
        assert looks.keys() <= {OutcomeStyle.QUARANTINED, OutcomeStyle.WAITING}

    def test_the_entry_says_what_it_touches(self, ready: World, scored: tuple[Run, dict[UUID, float | None]]) -> None:
        set_aside(ready, next(iter(scored[1])))
        (entry,) = ready.do(quarantines)
        assert (entry.reason, entry.set_by, entry.episodes, entry.runs) == (REASON, "local", 1, 1)


class TestHistory:
    def test_history_is_preserved(self, ready: World) -> None:
        (task, *_) = task_ids(ready)
        set_aside(ready, task)
        lift(ready, task)
        set_aside(ready, task, "broken again")
        newest, oldest = ready.do(history_of, task)
        assert (newest.reason, newest.lifted_at) == ("broken again", None)
        assert (oldest.reason, oldest.lift_reason, oldest.lifted_by) == (REASON, "mended", "local")

    def test_an_unchanged_task_of_a_new_version_stays_in_quarantine(self, installation: World) -> None:
        same, changed = make_task(name="same"), make_task(name="changed")
        installation.benchmark(make_benchmark(same, changed))
        for task in task_ids(installation):
            set_aside(installation, task)
        repaired = changed.model_copy(update={"instruction": "Another one."})
        installation.benchmark(make_benchmark(same, repaired))
        with installation.work() as session:
            query = select(Task.name).join(Quarantine, Quarantine.task_id == Task.id)
            names = session.scalars(query.where(Task.task_set_id == latest_task_set(session, "starter").id)).all()
        assert names == ["same"]


class TestRefusals:
    def test_quarantining_or_lifting_twice_is_refused(self, ready: World) -> None:
        (task, *_) = task_ids(ready)
        set_aside(ready, task)
        with raises_code(Conflict, "already_quarantined"):
            set_aside(ready, task)
        lift(ready, task)
        with raises_code(Conflict, "not_quarantined"):
            lift(ready, task)

    @pytest.mark.parametrize("reason", ["", "  ", "x" * 501, "a\x1b[31m"])
    def test_a_reason_is_needed(self, ready: World, reason: str) -> None:
        with raises_code(Invalid, "invalid_reason"):
            set_aside(ready, task_ids(ready)[0], reason)

    def test_unknown_task_is_refused(self, ready: World) -> None:
        with raises_code(NotFound, "task_not_found"):
            set_aside(ready, UUID(int=1))
