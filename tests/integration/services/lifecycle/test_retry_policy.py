"""The retry policy, class by class, as an episode lives through it."""

from datetime import timedelta

import pytest
from sqlalchemy import select

from backend.db.models import Attempt, Episode, Event, Run, Worker
from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.model.episode import RETRIES, UNBEGUN_RETRIES
from backend.domain.model.reason import ReasonCode
from backend.services.agents import agent_tokens
from backend.services.attempts import attempts
from backend.services.runs import runs
from backend.services.runs.views.run_page import RunPageQuery, run_page
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World, capabilities

CLASSES = [kind for kind in FailureClass if kind is not FailureClass.EVALUATOR]


def make_due(installation: World) -> None:
    """Lets the time pass that an episode waits for its next attempt."""
    with installation.work() as session:
        for episode in session.scalars(select(Episode)):
            episode.available_at -= timedelta(hours=1)


def one(installation: World) -> Claim:
    worker = installation.worker(slots=1)
    installation.submit(tasks=("files/a",))
    return installation.must_claim(worker)


class TestRetries:
    @pytest.mark.parametrize("kind", CLASSES)
    def test_each_class_has_its_number_of_attempts(self, ready: World, kind: FailureClass) -> None:
        worker = ready.worker(slots=1)
        run = ready.submit(tasks=("files/a",))
        made = 0
        while (claim := ready.claim(worker)) is not None:
            made += 1
            ready.begin(claim)
            ready.lose(claim, kind)
            make_due(ready)
        assert made == RETRIES[kind] + 1
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.failure_class, episode.score) == ("lost", kind.value, None)
            assert episode.attempt_count == made == len(session.scalars(select(Attempt)).all())
            assert session.get_one(Run, run.id).state == "completed"

    def test_an_evaluator_loss_gets_no_other_attempt(self, ready: World) -> None:
        claim = one(ready)
        ready.run_to_evaluation(claim)
        ready.lose(claim, FailureClass.EVALUATOR)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.failure_class, episode.steps) == ("lost", "evaluator", 2)

    def test_classes_are_counted_apart(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        for kind in (FailureClass.TASK_SETUP, FailureClass.GUEST, FailureClass.CLUSTER):
            ready.lose(ready.must_claim(worker), kind)
        ready.score(ready.must_claim(worker))
        with ready.work() as session:
            assert session.scalars(select(Episode)).one().attempt_count == 4

    def test_a_model_api_is_left_alone_for_a_while(self, ready: World) -> None:
        claim = one(ready)
        ready.lose(claim, FailureClass.MODEL_API)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            attempt = session.scalars(select(Attempt)).one()
            assert attempt.ended_at is not None
            assert episode.available_at - attempt.ended_at == timedelta(seconds=5)
            assert "model_api" in episode.reason
            assert "after 5 s" in episode.reason
            assert episode.reason_code == ReasonCode.RETRY_DELAY

    def test_an_attempt_that_a_cluster_did_not_start_does_not_count(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        for begun in (True, *[False] * UNBEGUN_RETRIES, True):
            claim = ready.must_claim(worker)
            if begun:
                ready.begin(claim)
            ready.lose(claim, FailureClass.CLUSTER)
            make_due(ready)
        with ready.work() as session:
            assert session.scalars(select(Episode)).one().state == "waiting"
        ready.lose(ready.must_claim(worker), FailureClass.CLUSTER)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.attempt_count) == ("lost", UNBEGUN_RETRIES + 3)

    def test_a_cluster_that_starts_nothing_is_asked_less_and_less(self, ready: World) -> None:
        worker, pauses = ready.worker(slots=1), []
        ready.submit(tasks=("files/a",))
        for _ in range(4):
            ready.lose(ready.must_claim(worker), FailureClass.CLUSTER)
            with ready.work() as session:
                episode = session.scalars(select(Episode)).one()
                ended = session.scalars(select(Attempt).where(Attempt.number == episode.attempt_count)).one().ended_at
                assert ended is not None
                pauses.append((episode.available_at - ended).total_seconds())
            make_due(ready)
        assert pauses == [0.0, 1.0, 2.0, 4.0]

    def test_a_machine_lost_at_work_is_made_up_for_at_once(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        for begun in (False, True):
            claim = ready.must_claim(worker)
            if begun:
                ready.begin(claim)
            ready.lose(claim, FailureClass.CLUSTER)
        ready.score(ready.must_claim(worker))

    def test_run_retry_forgives_earlier_losses(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        run = ready.submit(tasks=("files/a",))
        for _ in range(2):
            ready.lose(ready.must_claim(worker), FailureClass.TASK_SETUP)
        assert ready.do(runs.retry_run, run.id) == 1
        ready.lose(ready.must_claim(worker), FailureClass.TASK_SETUP)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.failure_class, episode.attempt_count) == ("waiting", None, 3)
            assert session.get_one(Run, run.id).state == "running"


class TestOfAProgramFromOutside:
    """With nobody there its attempt would end by its time, and be scored."""

    def begun(self, ready: World) -> tuple[Worker, Run, Claim]:
        able = capabilities()
        able["agents"]["remote"] = able["agents"]["noop"]
        worker = ready.worker(slots=1, capabilities=able)
        run = ready.submit("remote", tasks=("files/a",))
        return worker, run, ready.must_claim(worker)

    @pytest.mark.parametrize("kind", [FailureClass.GUEST, FailureClass.CLUSTER])
    def test_lost_episode_waits_for_its_external_program(self, ready: World, kind: FailureClass) -> None:
        worker, run, claim = self.begun(ready)
        token = ready.do(agent_tokens.issue, claim.episode_id)
        ready.begin(claim)
        ready.lose(claim, kind)
        assert ready.do(agent_tokens.pass_of_token, token).awaits_restart
        assert ready.claim(worker) is None
        ready.do(runs.pause_run, run.id)
        assert ready.do(agent_tokens.start_attempt, token).awaits_restart
        ready.do(runs.resume_run, run.id)
        assert ready.claim(worker) is None
        assert not ready.do(agent_tokens.start_attempt, token).awaits_restart
        ready.score(ready.must_claim(worker))

    def test_an_episode_that_no_program_saw_restarts_by_itself(self, ready: World) -> None:
        worker, _, claim = self.begun(ready)
        ready.lose(claim, FailureClass.CLUSTER)
        assert ready.claim(worker) is not None

    def test_a_retry_waits_for_it_too(self, ready: World) -> None:
        worker, run, claim = self.begun(ready)
        token = ready.do(agent_tokens.issue, claim.episode_id)
        ready.begin(claim)
        ready.lose(claim)
        ready.do(agent_tokens.give_up, token)
        with ready.work() as session:
            row = session.get_one(Episode, claim.episode_id)
            assert (row.state, row.score, row.failure_class) == ("lost", None, "guest")
            assert session.get_one(Run, run.id).state == "completed"
        assert ready.do(runs.retry_run, run.id) == 1
        assert ready.claim(worker) is None
        ready.do(agent_tokens.start_attempt, token)
        ready.score(ready.must_claim(worker))


class TestFlag:
    def test_an_unexplained_loss_is_flagged_and_retried_once(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        ready.lose(ready.must_claim(worker), FailureClass.GUEST, after_action=True)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.flagged) == ("waiting", True)
            assert episode.flag_reason.startswith("attempt 1 was lost after the agent had acted")
            assert session.scalars(select(Event).where(Event.kind == "flag")).one().episode_id == episode.id
        ready.lose(ready.must_claim(worker), FailureClass.GUEST, after_action=True)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.attempt_count) == ("lost", 2)

    def test_losses_of_the_machine_are_not(self, ready: World) -> None:
        worker = ready.worker(slots=1)
        ready.submit(tasks=("files/a",))
        for _ in range(3):
            ready.lose(ready.must_claim(worker), FailureClass.GUEST)
        with ready.work() as session:
            episode = session.scalars(select(Episode)).one()
            assert (episode.state, episode.flagged) == ("lost", False)


class TestShown:
    @pytest.mark.parametrize(
        ("message", "shown"),
        [("x" * 160, "x" * 160), ("x" * 161, "x" * 159 + "…"), ("why\n" + "x" * 500, "why")],
    )
    def test_truncated_reason_is_marked(self, ready: World, message: str, shown: str) -> None:
        claim = one(ready)
        ready.do(attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", message), {})
        run = ready.do(lambda session: session.scalars(select(Run.id)).one())
        (loss,) = ready.do(run_page, run, RunPageQuery({})).losses
        assert (loss.failure_code, loss.reason, loss.attempts) == ("desktop_gone", shown, 1)


class TestOfACancelledRun:
    def test_the_episode_is_cancelled_and_not_tried_again(self, ready: World) -> None:
        claim = one(ready)
        ready.do(runs.cancel_run, claim.run_id)
        ready.do(attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.CLUSTER, "pod_lost", "x"), {})
        with ready.work() as session:
            assert session.scalars(select(Episode)).one().state == "cancelled"
            assert session.get_one(Attempt, claim.attempt_id).state == "lost"

    def test_also_when_the_worker_died(self, ready: World) -> None:
        claim = one(ready)
        ready.do(runs.cancel_run, claim.run_id)
        ready.do(claims.reap, lease_seconds=-1.0)
        with ready.work() as session:
            assert session.scalars(select(Episode)).one().state == "cancelled"
