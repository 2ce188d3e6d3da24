"""An evaluation that came to no verdict: its evidence is kept, it alone is repeated, and the episode counts once."""

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from sqlalchemy import func, select, text, update

from backend.db.models import Attempt, Episode, Evaluation, Event, Evidence, Measure, Reevaluation, Run
from backend.db.models.enums import EvidenceRole
from backend.domain.errors import AttemptFailure, Conflict, FailureClass, LeaseLost, Unavailable
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.episode import REPEAT_PAUSES
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts, reevaluation, reevaluation_failures
from backend.services.attempts.attempts import EvaluationBasis, EvidenceRow
from backend.services.attempts.evidence import spec_of
from backend.services.attempts.reevaluation import ReevaluationOptions
from backend.services.runs import runs
from backend.services.runs.summary import run_summary
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim, Fence
from tests.error_codes import raises_code
from tests.factories.records import World, evaluation
from tests.integration.services.attempts.test_reevaluation import import_task, task_of

WHY = "the metric broke (3 tries)"


def claimed(world: World) -> Claim:
    """An attempt that is being evaluated."""
    import_task(world, task_of())
    worker = world.worker()
    world.submit()
    claim = world.must_claim(worker)
    world.run_to_evaluation(claim)
    return claim


def unjudged(world: World, claim: Claim, fence: Fence | None = None, code: str = "evaluator_crashed") -> None:
    """A worker's write when there is no verdict."""
    ref = ArtifactRef(world.store.put(b"hello", "text/plain"), 5, "text/plain")
    rows = [EvidenceRow(0, EvidenceRole.RESULT, "vm_command_line", "cat note", ref)]
    judged = EvaluationBasis(spec_of(task_of(), [CallEvidence()]))
    world.do(
        attempts.finish_unjudged,
        fence or claim.fence,
        AttemptFailure(FailureClass.EVALUATOR, code, WHY),
        rows,
        {"evaluation": 3.0},
        judged=judged,
    )


@pytest.fixture
def claim(installation: World) -> Claim:
    """An attempt whose evaluation came to no verdict."""
    found = claimed(installation)
    unjudged(installation, found)
    installation.do(claims.release_lease, found.lease_id, "done")
    return found


def make_due(world: World) -> None:
    """Lets the pause pass."""
    with world.work() as session:
        session.execute(update(Reevaluation).values(available_at=Reevaluation.created_at))


@contextmanager
def taken(world: World) -> Iterator[tuple[Any, reevaluation.ReevaluationJob]]:
    """The next request, in the transaction that holds it."""
    with world.work() as session:
        job = reevaluation.claim_request(session)
        assert job is not None
        yield session, job


def judge(world: World, score: float = 1.0) -> None:
    """The evaluation is repeated and gives a verdict."""
    make_due(world)
    with taken(world) as (session, job):
        reevaluation.finish(session, job, evaluation(score), [], 0.5)


def fail(world: World, code: str = "evaluator_crashed") -> None:
    """The evaluation is repeated and fails again."""
    make_due(world)
    with taken(world) as (_, job):
        rescore_id = job.rescore.id
    world.do(reevaluation_failures.fail, rescore_id, WHY, code)


def give_up(world: World) -> None:
    """All repeats fail."""
    for _ in REPEAT_PAUSES:
        fail(world)


def all_of(world: World, kind: Any) -> list[Any]:
    with world.work() as session:
        return list(session.scalars(select(kind).order_by(kind.id)))


def states(world: World) -> tuple[str, str, str]:
    """Of run, episode and newest attempt."""
    return all_of(world, Run)[-1].state, all_of(world, Episode)[-1].state, all_of(world, Attempt)[-1].state


class TestKept:
    def test_the_evidence_stays_and_only_the_evaluation_waits(self, installation: World, claim: Claim) -> None:
        assert states(installation) == ("running", "waiting", "lost")
        (kept,) = all_of(installation, Evaluation)
        assert (kept.failure, kept.score, kept.current, kept.spec["dialect"]) == (WHY, None, False, "starter")
        with installation.work() as session:
            (blob,) = session.scalars(select(Evidence))
            assert blob.evaluation_id == kept.id
            assert session.scalar(select(func.count()).select_from(Measure)) == 0
        (attempt,) = all_of(installation, Attempt)
        assert (attempt.failure_class, attempt.failure_message, attempt.seconds["evaluation"]) == ("evaluator", WHY, 3)
        (row,) = all_of(installation, Reevaluation)
        assert (row.state, row.previous_evaluation_id, row.actor_id, row.make_current) == (
            "waiting",
            kept.id,
            None,
            True,
        )
        (episode,) = all_of(installation, Episode)
        assert "the evaluation is repeated after 5 s" in episode.reason

    @pytest.mark.parametrize("code", ["invalid_rule", "invalid_reference", "metric_broke"])
    def test_permanent_failures_are_not_repeated(self, installation: World, code: str) -> None:
        claim = claimed(installation)
        unjudged(installation, claim, code=code)
        assert states(installation) == ("completed", "lost", "lost")
        assert all_of(installation, Reevaluation) == []
        (kept,) = all_of(installation, Evaluation)
        with installation.work() as session:
            assert session.scalar(select(Evidence.evaluation_id)) == kept.id
        (episode,) = all_of(installation, Episode)
        assert (episode.failure_class, episode.failure_message) == ("evaluator", WHY)

    def test_episode_is_not_claimed_meanwhile(self, installation: World, claim: Claim) -> None:
        assert installation.claim(installation.worker("w2", pid=2)) is None

    def test_not_before_the_pause_is_over(self, installation: World, claim: Claim) -> None:
        with installation.work() as session:
            assert reevaluation.claim_request(session) is None

    def test_a_repeated_report_is_stored_once(self, installation: World) -> None:
        found = claimed(installation)
        unjudged(installation, found)
        unjudged(installation, found)
        assert len(all_of(installation, Evaluation)) == len(all_of(installation, Reevaluation)) == 1

    def test_a_stale_worker_keeps_nothing(self, installation: World) -> None:
        found = claimed(installation)
        with pytest.raises(LeaseLost):
            unjudged(installation, found, Fence(found.attempt_id, found.fence.token - 1))
        installation.do(claims.release_lease, found.lease_id, "the worker died")
        with pytest.raises(LeaseLost):
            unjudged(installation, found)
        assert all_of(installation, Evaluation) == all_of(installation, Reevaluation) == []

    def test_cancelled_run_repeats_nothing(self, installation: World) -> None:
        found = claimed(installation)
        installation.do(runs.cancel_run, found.run_id)
        unjudged(installation, found)
        assert states(installation) == ("cancelled", "cancelled", "lost")
        assert all_of(installation, Reevaluation) == []


class TestJudged:
    def test_repeated_evaluation_scores_the_episode_once(self, installation: World, claim: Claim) -> None:
        judge(installation)
        assert states(installation) == ("completed", "scored", "scored")
        (episode,), (attempt,) = all_of(installation, Episode), all_of(installation, Attempt)
        assert (episode.score, episode.solved, episode.steps, episode.ended_by) == (1.0, True, 2, "done")
        assert (episode.reason, episode.failure_class, episode.attempt_count) == ("", None, 1)
        assert (attempt.failure_class, attempt.failure_message, attempt.live) == (None, "", False)
        old, new = all_of(installation, Evaluation)
        assert (old.current, new.current, new.failure, new.score, new.seconds) == (False, True, "", 1.0, 0.5)
        with installation.work() as session:
            summary = run_summary(session, claim.run_id)
        assert (summary.episodes, summary.solved, dict(summary.lost)) == (1, 1, {})
        (row,) = all_of(installation, Reevaluation)
        assert (row.state, row.new_evaluation_id) == ("done", new.id)
        assert len([one for one in all_of(installation, Event) if one.kind == "evaluation"]) == 1

    def test_the_worker_dies_at_it(self, installation: World, claim: Claim) -> None:
        """The server ends the transaction with the connection: nothing is counted, and another worker does it."""
        make_due(installation)

        def killed() -> None:
            with taken(installation) as (session, job):
                reevaluation.finish(session, job, evaluation(1.0), [], 0.5)
                backend = session.scalar(text("SELECT pg_backend_pid()"))
                installation.do(lambda other: other.execute(text(f"SELECT pg_terminate_backend({backend})")))
                session.execute(text("SELECT 1"))

        with pytest.raises(Unavailable):
            killed()
        assert states(installation) == ("running", "waiting", "lost")
        judge(installation)
        assert states(installation) == ("completed", "scored", "scored")
        assert len(all_of(installation, Evaluation)) == 2

    def test_cancelled_meanwhile_it_counts_nothing(self, installation: World, claim: Claim) -> None:
        installation.do(runs.cancel_run, claim.run_id)
        judge(installation)
        assert states(installation) == ("cancelled", "cancelled", "lost")
        (row,) = all_of(installation, Reevaluation)
        assert (row.state, row.message) == ("failed", "the episode went on without it: it is cancelled")


class TestGivenUp:
    def test_after_growing_pauses_it_is_lost(self, installation: World, claim: Claim) -> None:
        found = []
        for _ in REPEAT_PAUSES[1:]:
            with installation.work() as session:
                before = session.scalar(select(func.now()))
            fail(installation)
            (row,) = all_of(installation, Reevaluation)
            found.append((row.available_at - before).total_seconds())
            assert states(installation) == ("running", "waiting", "lost")
        assert found == [pytest.approx(pause, abs=20.0) for pause in REPEAT_PAUSES[1:]]
        assert found == sorted(found)
        fail(installation)
        assert states(installation) == ("completed", "lost", "lost")
        (episode,), (row,) = all_of(installation, Episode), all_of(installation, Reevaluation)
        assert (episode.failure_class, episode.score, row.state, row.tries) == ("evaluator", None, "failed", 3)
        assert episode.failure_message == f"{WHY} (the evaluation was repeated 3 times)"
        assert episode.reason == ""

    @pytest.mark.parametrize("code", ["invalid_rule", "metric_broke", "evidence_missing", "desktop_needed"])
    def test_permanent_failures_are_given_up_at_once(self, installation: World, claim: Claim, code: str) -> None:
        fail(installation, code)
        assert states(installation) == ("completed", "lost", "lost")
        (episode,), (row,) = all_of(installation, Episode), all_of(installation, Reevaluation)
        assert (episode.failure_message, row.state, row.tries) == (WHY, "failed", 1)


class TestAskedFor:
    """A person requests another evaluation of a lost episode."""

    def rescored(self, world: World, wish: ReevaluationOptions | None = None) -> None:
        with world.work() as session:
            _, actor = world.who(session)
            episode_id = session.scalars(select(Episode.id)).one()
            reevaluation.request(session, episode_id, actor, wish)

    @pytest.mark.parametrize("way", ["retry", "rescore"])
    def test_stored_evidence_is_judged_immediately_on_request(
        self, installation: World, claim: Claim, way: str
    ) -> None:
        give_up(installation)
        asking: dict[str, Callable[[], Any]] = {
            "retry": lambda: installation.do(runs.retry_run, claim.run_id),
            "rescore": lambda: self.rescored(installation),
        }
        asking[way]()
        assert states(installation) == ("running", "waiting", "lost")
        assert installation.claim(installation.worker("w2", pid=2)) is None
        with taken(installation) as (session, job):
            assert job.settles
            reevaluation.finish(session, job, evaluation(1.0), [], 0.5)
        assert states(installation) == ("completed", "scored", "scored")
        assert all_of(installation, Episode)[0].attempt_count == 1

    def test_a_retry_that_fails_repeats_the_episode(self, installation: World, claim: Claim) -> None:
        give_up(installation)
        assert installation.do(runs.retry_run, claim.run_id) == 1
        give_up(installation)
        again = installation.must_claim(installation.worker("w2", pid=2))
        assert (again.episode_id, again.attempt_number) == (claim.episode_id, 2)
        installation.score(again)
        assert states(installation) == ("completed", "scored", "scored")

    def test_scoring_again_that_fails_leaves_it_lost(self, installation: World, claim: Claim) -> None:
        give_up(installation)
        self.rescored(installation)
        give_up(installation)
        assert states(installation) == ("completed", "lost", "lost")
        assert [row.state for row in all_of(installation, Reevaluation)] == ["failed", "failed"]

    def test_repaired_metric_judges_stored_evidence(self, installation: World) -> None:
        unjudged(installation, claimed(installation), code="metric_broke")
        assert states(installation) == ("completed", "lost", "lost")
        self.rescored(installation)
        fail(installation, "metric_broke")
        assert states(installation) == ("completed", "lost", "lost")
        self.rescored(installation)
        judge(installation)
        assert states(installation) == ("completed", "scored", "scored")

    def test_other_losses_have_no_evidence_to_judge(self, installation: World) -> None:
        found = claimed(installation)
        installation.lose(found, FailureClass.EVALUATOR)
        with pytest.raises(Conflict):
            self.rescored(installation)
        assert installation.do(runs.retry_run, found.run_id) == 1
        assert installation.must_claim(installation.worker("w2", pid=2)).attempt_number == 2

    def test_a_verdict_that_may_not_count(self, installation: World, claim: Claim) -> None:
        give_up(installation)
        with raises_code(Conflict, "episode_not_scored"):
            self.rescored(installation, ReevaluationOptions(make_current=False))

    def test_a_run_is_scored_again_with_it(self, installation: World, claim: Claim) -> None:
        give_up(installation)
        with installation.work() as session:
            _, actor = installation.who(session)
            asked, refused = reevaluation.request_run(session, claim.run_id, actor, ReevaluationOptions())
        assert ([row.rescore.episode_id for row in asked], refused) == ([claim.episode_id], [])
        assert asked[0].before is None
