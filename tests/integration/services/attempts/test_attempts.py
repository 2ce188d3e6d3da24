"""A worker's writes about an attempt: fenced, repeatable, safe against hostile text."""

from collections.abc import Callable
from datetime import timedelta

import pytest
from sqlalchemy import func, select, update
from sqlalchemy.exc import IntegrityError
from sqlalchemy.orm import Session

from backend.db.models import Artifact, Attempt, Episode, Evaluation, Event, Evidence, Lease, Measure, Run, Step
from backend.db.models.enums import EvidenceRole
from backend.domain.errors import AttemptFailure, Conflict, FailureClass, IllegalMove, LeaseLost
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import Decision, Observation, SafetyCheck, StepRecord, Window
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvidenceRow, Fence, StepRow
from backend.services.runs import runs
from backend.services.runs.views.run_page import RunPageQuery, run_page
from backend.services.runs.views.waiting import startup_of
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import PNG, World, evaluation, step_row

OPENING_FACTS = {"phase": "boot", "doing": "waiting for the guest API", "seconds": 2.5}
END = {"cause": "memory_limit", "text": "", "facts": {"memory": 1}}
Write = Callable[[World, Fence], object]

WRITES: dict[str, Write] = {
    "enter_running": lambda w, fence: w.do(attempts.enter_running, fence, {}),
    "note_opening": lambda w, fence: w.do(attempts.note_opening, fence, OPENING_FACTS),
    "note_desktop": lambda w, fence: w.do(attempts.note_desktop, fence, {"home": "overlay"}),
    "note_desktop_end": lambda w, fence: w.do(attempts.note_desktop_end, fence, END),
    "record_step": lambda w, fence: w.do(attempts.record_step, fence, step_row(w.store)),
    "enter_evaluating": lambda w, fence: w.do(attempts.enter_evaluating, fence, EndedBy.DONE, {}),
    "finish_scored": lambda w, fence: w.do(attempts.finish_scored, fence, evaluation(), [], {}),
    "finish_lost": lambda w, fence: w.do(
        attempts.finish_lost, fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "x"), {}
    ),
    "finish_cancelled": lambda w, fence: w.do(attempts.finish_cancelled, fence),
    "is_cancelled": lambda w, fence: w.do(attempts.is_cancelled, fence),
}


@pytest.fixture
def claim(ready: World) -> Claim:
    worker = ready.worker()
    ready.submit()
    return ready.must_claim(worker)


class TestEnterRunning:
    def test_the_first_look_is_dated_by_the_databases_clock(self, ready: World, claim: Claim) -> None:
        ready.do(attempts.enter_running, claim.fence, {"reset": 3.0}, 2.5)
        with ready.work() as session:
            moved = select(Event.created_at).where(Event.attempt_id == claim.attempt_id, Event.kind == "attempt_state")
            began = session.scalars(moved).one()
            assert session.get_one(Attempt, claim.attempt_id).first_observation_at == began - timedelta(seconds=2.5)


class TestNoteOpening:
    def test_says_what_is_waited_for_until_the_desktop_is_there(self, ready: World, claim: Claim) -> None:
        for _ in range(2):
            ready.do(attempts.note_opening, claim.fence, OPENING_FACTS)
        with ready.work() as session:
            told = select(Event).where(Event.attempt_id == claim.attempt_id, Event.kind == "attempt_opening")
            event = session.scalars(told).one()
            attempt = session.get_one(Attempt, claim.attempt_id)
            opening = startup_of(attempt.state, attempt.desktop)
        assert event.data == {"number": 1, "phase": "boot", "doing": "waiting for the guest API"}
        assert opening is not None
        assert (opening.phase, opening.limit) == ("boot", None)
        assert event.created_at - opening.since == timedelta(seconds=2.5)
        ready.do(attempts.note_desktop, claim.fence, {"path": "clone"})
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            assert startup_of(attempt.state, attempt.desktop) is None
            assert attempt.desktop == {"image": "default", "path": "clone"}


class TestNoteDesktopEnd:
    def test_an_end_while_it_is_evaluated_is_the_agent_s_error(self, ready: World, claim: Claim) -> None:
        ready.do(attempts.note_desktop, claim.fence, {"path": "clone"})
        ready.do(attempts.enter_running, claim.fence, {})
        ready.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
        ready.do(attempts.note_desktop_end, claim.fence, END)
        ready.do(attempts.finish_scored, claim.fence, evaluation(0.0), [], {})
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            episode = session.get_one(Episode, claim.episode_id)
            assert attempt.desktop == {"image": "default", "path": "clone", "end": END}
            assert (episode.outcome, episode.score, episode.ended_by) == ("scored", 0.0, "agent_error")

    def test_an_end_while_the_agent_acts_is_noted_before_the_evaluation(self, ready: World, claim: Claim) -> None:
        ready.do(attempts.enter_running, claim.fence, {})
        ready.do(attempts.note_desktop_end, claim.fence, END)
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            assert (attempt.state, attempt.ended_by, attempt.desktop["end"]) == ("running", None, END)


class TestWholeLife:
    def test_a_scored_attempt_scores_its_episode(self, ready: World, claim: Claim) -> None:
        ready.run_to_evaluation(claim, steps=3, ended_by=EndedBy.STEPS)
        ready.step(claim, 3, final=True)
        ready.do(attempts.finish_scored, claim.fence, evaluation(0.5), [], {"evaluation": 0.2})
        with ready.work() as session:
            attempt = session.get_one(Attempt, claim.attempt_id)
            episode = session.get_one(Episode, claim.episode_id)
            assert (attempt.state, attempt.live, attempt.current_step) == ("scored", False, 3)
            assert attempt.seconds == {"reset": 0.5, "setup": 1.0, "agent": 2.0, "evaluation": 0.2}
            assert attempt.desktop == {"image": "default", "home": "overlay"}
            assert attempt.first_observation_at is not None
            assert (episode.state, episode.outcome, episode.ended_by) == ("scored", "scored", "steps")
            assert (episode.score, episode.solved, episode.steps) == (0.5, False, 3)
            assert session.scalars(select(func.count()).select_from(Step)).one() == 4

    def test_failed_code_and_safety_checks_are_stored_and_counted(self, ready: World, claim: Claim) -> None:
        check = SafetyCheck(code="malicious_instructions", message="The page gives instructions.", acknowledged=True)
        results = ({"returncode": 1, "output": "", "error": "NameError"}, {"returncode": 0, "output": "", "error": ""})
        ready.do(attempts.enter_running, claim.fence, {})
        for index, result in enumerate(results):
            decision = Decision(safety_checks=(check,)[index:])
            record = StepRecord(index=index, observation=Observation(index=index), decision=decision, results=(result,))
            ready.do(attempts.record_step, claim.fence, StepRow(record=record))
        with ready.work() as session:
            extras = session.scalars(select(Step.extras).order_by(Step.index)).all()
            assert extras == [{"code_failed": True, "safety_checks": [check.model_dump()]}, {}]
            run_id = session.get_one(Episode, claim.episode_id).run_id
            assert run_page(session, run_id, RunPageQuery({})).failed_code == 1

    def test_measures_and_evidence_are_stored(self, ready: World, claim: Claim) -> None:
        sha256 = ready.store.put(b"found", "text/plain")
        rows = [
            EvidenceRow(0, EvidenceRole.RESULT, "vm_file", "/home/user/a", ArtifactRef(sha256, 5, "text/plain")),
            EvidenceRow(0, EvidenceRole.EXPECTED, "rule", "rule", note="absent"),
        ]
        ready.run_to_evaluation(claim)
        ready.do(attempts.finish_scored, claim.fence, evaluation(), rows, {})
        with ready.work() as session:
            assert {row.name: row.value for row in session.scalars(select(Measure))} == {"score": 1.0, "S_int": 0.5}
            kept = {row.role: row.sha256 for row in session.scalars(select(Evidence))}
            assert kept == {"result": sha256, "expected": None}
            assert session.get(Artifact, sha256) is not None

    def test_the_last_episode_completes_the_run(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",))
        ready.score(ready.must_claim(worker))
        with ready.work() as session:
            row = session.get_one(Run, run.id)
            assert (row.state, row.ended_at is not None) == ("completed", True)

    def test_the_moves_are_in_the_log_in_order(self, ready: World) -> None:
        worker, run = ready.worker(), ready.submit(tasks=("files/a",))
        ready.score(ready.must_claim(worker), steps=1)
        with ready.work() as session:
            events = session.scalars(select(Event).where(Event.run_id == run.id).order_by(Event.seq)).all()
            told = [(event.kind, event.data.get("to")) for event in events]
        assert [event.seq for event in events] == list(range(1, len(events) + 1))
        assert told == [
            ("run_submitted", None),
            ("run_state", "running"),
            ("episode_state", "running"),
            ("attempt_started", None),
            ("attempt_state", "running"),
            ("step", None),
            ("attempt_state", "evaluating"),
            ("evaluation", None),
            ("attempt_state", "scored"),
            ("episode_state", "scored"),
            ("run_state", "completed"),
        ]


class TestFence:
    @pytest.mark.parametrize("name", WRITES)
    def test_a_stale_token_is_refused(self, ready: World, claim: Claim, name: str) -> None:
        with pytest.raises(LeaseLost):
            WRITES[name](ready, Fence(claim.attempt_id, claim.fence.token - 1))

    @pytest.mark.parametrize("name", WRITES)
    def test_a_reaped_attempt_is_refused(self, ready: World, claim: Claim, name: str) -> None:
        ready.do(claims.reap, lease_seconds=-1.0)
        with pytest.raises(LeaseLost):
            WRITES[name](ready, claim.fence)

    @pytest.mark.parametrize("name", WRITES)
    def test_after_the_next_attempt_began_the_old_one_is_refused(self, ready: World, claim: Claim, name: str) -> None:
        ready.do(claims.release_lease, claim.lease_id, "gone")
        again = ready.must_claim(ready.worker("w2"))
        assert again.episode_id == claim.episode_id
        with pytest.raises(LeaseLost):
            WRITES[name](ready, claim.fence)
        with ready.work() as session:
            assert session.get_one(Attempt, again.attempt_id).state == "preparing"

    def test_refused_call_writes_nothing(self, ready: World, claim: Claim) -> None:
        ready.do(claims.reap, lease_seconds=-1.0)
        with ready.work() as session:
            before = session.scalars(select(func.count()).select_from(Event)).one()
        with pytest.raises(LeaseLost):
            ready.step(claim)
        with ready.work() as session:
            assert session.scalars(select(func.count()).select_from(Event)).one() == before
            assert session.scalars(select(Step)).all() == []


class TestTwice:
    """The database went away just as a commit was under way: the worker asks again."""

    def test_every_call_may_be_repeated(self, ready: World, claim: Claim) -> None:
        for name in ("enter_running", "record_step", "enter_evaluating", "finish_scored"):
            WRITES[name](ready, claim.fence)
            with ready.work() as session:
                before = session.scalars(select(func.count()).select_from(Event)).one()
            WRITES[name](ready, claim.fence)
            with ready.work() as session:
                assert session.scalars(select(func.count()).select_from(Event)).one() == before
        with ready.work() as session:
            assert len(session.scalars(select(Evaluation)).all()) == len(session.scalars(select(Step)).all()) == 1

    def test_a_loss_may_be_repeated_and_counts_once(self, ready: World, claim: Claim) -> None:
        WRITES["finish_lost"](ready, claim.fence)
        WRITES["finish_lost"](ready, claim.fence)
        with ready.work() as session:
            assert session.get_one(Episode, claim.episode_id).state == "waiting"
            assert len(session.scalars(select(Attempt)).all()) == 1

    def test_scored_stays_scored_when_the_lease_is_reaped_in_between(self, ready: World, claim: Claim) -> None:
        ready.run_to_evaluation(claim)
        WRITES["finish_scored"](ready, claim.fence)
        assert ready.do(claims.reap, lease_seconds=-1.0) == []
        WRITES["finish_scored"](ready, claim.fence)
        with ready.work() as session:
            assert session.get_one(Episode, claim.episode_id).state == "scored"


class TestOrder:
    def test_no_score_before_the_evaluation(self, ready: World, claim: Claim) -> None:
        with pytest.raises(IllegalMove):
            WRITES["finish_scored"](ready, claim.fence)
        with ready.work() as session:
            assert session.get_one(Episode, claim.episode_id).score is None
            assert session.scalars(select(Evaluation)).all() == []

    def test_attempt_of_a_running_run_cannot_be_cancelled(self, ready: World, claim: Claim) -> None:
        with pytest.raises(Conflict):
            WRITES["finish_cancelled"](ready, claim.fence)


class TestIsCancelled:
    def test_reports_a_cancelled_run(self, ready: World, claim: Claim) -> None:
        assert ready.do(attempts.is_cancelled, claim.fence) is False
        ready.do(runs.cancel_run, claim.run_id)
        assert ready.do(attempts.is_cancelled, claim.fence) is True
        ready.do(attempts.finish_cancelled, claim.fence)
        with ready.work() as session:
            episode = session.get_one(Episode, claim.episode_id)
            assert (episode.state, episode.outcome, episode.score) == ("cancelled", "cancelled", None)

    def test_an_attempt_that_was_scored_all_the_same_keeps_its_score(self, ready: World, claim: Claim) -> None:
        ready.run_to_evaluation(claim)
        ready.do(runs.cancel_run, claim.run_id)
        WRITES["finish_scored"](ready, claim.fence)
        with ready.work() as session:
            assert session.get_one(Episode, claim.episode_id).outcome == "scored"
            assert session.get_one(Run, claim.run_id).state == "cancelled"


class TestHostileText:
    def test_nul_surrogates_and_nan_are_stored_readably(self, ready: World, claim: Claim) -> None:
        observation = Observation(index=0, windows=(Window(title="a\x00b\ud800"),))
        record = StepRecord(
            index=0,
            observation=observation,
            decision=Decision(explanation="w\x00", reply="\udfff"),
            results=({"output": "o\x00", "n": float("nan"), "k\x00": 1},),
        )
        ready.do(attempts.record_step, claim.fence, StepRow(record))
        with ready.work() as session:
            row = session.scalars(select(Step)).one()
            assert row.windows[0]["title"] == "a\N{REPLACEMENT CHARACTER}b?"
            assert row.explanation == "w\N{REPLACEMENT CHARACTER}"
            assert row.results == [{"output": "o\N{REPLACEMENT CHARACTER}", "n": None, "k\N{REPLACEMENT CHARACTER}": 1}]

    def test_a_message_without_end_is_cut(self, ready: World, claim: Claim) -> None:
        ready.do(
            attempts.finish_lost, claim.fence, AttemptFailure(FailureClass.GUEST, "desktop_gone", "x" * 100_000), {}
        )
        with ready.work() as session:
            assert len(session.get_one(Attempt, claim.attempt_id).failure_message) == 4000


class TestTheDatabaseItselfRefuses:
    def test_two_live_attempts_of_one_episode(self, ready: World, claim: Claim) -> None:
        def add(session: Session) -> None:
            old, lease = session.get_one(Attempt, claim.attempt_id), session.get_one(Lease, claim.lease_id)
            keys = {"worker_id": lease.worker_id, "slot_id": lease.slot_id, "lease_id": lease.id}
            session.add(Attempt(episode_id=old.episode_id, number=2, fencing_token=1, **keys))

        with pytest.raises(IntegrityError, match="uq_attempt_live_episode"):
            ready.do(add)

    def test_score_requires_the_outcome(self, ready: World, claim: Claim) -> None:
        query = update(Episode).where(Episode.id == claim.episode_id).values(score=1.0, solved=True)
        with pytest.raises(IntegrityError, match="score_when_scored"):
            ready.do(lambda session: session.execute(query))

    def test_one_picture_is_stored_once(self, ready: World, claim: Claim) -> None:
        ready.step(claim, 0, picture=PNG)
        ready.step(claim, 1, picture=PNG)
        with ready.work() as session:
            assert len(session.scalars(select(Artifact)).all()) == 1
