from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.domain.errors import AttemptFailure, Cancelled, ClusterLost, FailureClass, LeaseLost
from backend.domain.model.episode import EndedBy
from backend.domain.model.trajectory import Decision, Frame, Observation, StepRecord
from backend.domain.screen.pictures import perceptual_hash
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.error_codes import raises_code
from tests.factories import pictures
from tests.factories.records import World
from tests.integration.worker.in_process import attempts, steps
from worker.attempt.recorder import AttemptRecorder
from worker.base.database import Database
from worker.base.lease import HeldLease, LeaseGrant

FRAME = Frame(data=b"\xff\xd8picture", media_type="image/jpeg", width=640, height=480)
GONE = AttemptFailure(FailureClass.GUEST, "desktop_gone", "gone")


def record(index: int, frame: Frame = FRAME) -> StepRecord:
    seen = Observation(index=index, frame=frame, a11y_tree="<desktop-frame/>")
    return StepRecord(index=index, observation=seen, decision=Decision(explanation="I look"))


@pytest.fixture
def claim(world: World) -> Claim:
    world.benchmark()
    worker = world.worker()
    world.submit()
    return world.must_claim(worker)


@pytest.fixture
def hold(claim: Claim) -> HeldLease:
    return HeldLease(LeaseGrant(claim.lease_id, claim.provider), 60.0)


@pytest.fixture
def recorder(world: World, claim: Claim, hold: HeldLease) -> Iterator[AttemptRecorder]:
    made = AttemptRecorder(Database(world.factory), world.store, hold, claim.fence)
    made.running({"reset": 0.1}, None)
    yield made
    made.close()


class TestStep:
    def test_is_stored_when_flush_returns(self, world: World, claim: Claim, recorder: AttemptRecorder) -> None:
        recorder.step(record(0))
        recorder.flush()
        (kept,) = steps(world, claim.attempt_id)
        assert kept.explanation == "I look"
        assert world.store.get(str(kept.frame_sha256)) == FRAME.data
        assert world.store.get(str(kept.a11y_sha256)) == b"<desktop-frame/>"

    def test_stores_the_perceptual_hash_of_the_screen(
        self, world: World, claim: Claim, recorder: AttemptRecorder
    ) -> None:
        frame = Frame(data=pictures.desktop("a", 1), media_type="image/jpeg", width=1280, height=720)
        recorder.step(record(0, frame))
        recorder.step(record(1))
        recorder.flush()
        stored, damaged = (step.frame_hash for step in steps(world, claim.attempt_id))
        assert stored is not None
        assert stored % 2**64 == perceptual_hash(frame)
        assert damaged is None

    def test_steps_are_stored_in_order(self, world: World, claim: Claim, recorder: AttemptRecorder) -> None:
        for index in range(5):
            recorder.step(record(index))
        recorder.flush()
        assert [step.index for step in steps(world, claim.attempt_id)] == list(range(5))

    def test_full_disk_loses_the_attempt(self, world: World, claim: Claim, recorder: AttemptRecorder) -> None:
        world.store.room = 0
        recorder.step(record(0))
        with raises_code(ClusterLost, "service_unavailable", mentions="disk is full"):
            recorder.flush()
        assert steps(world, claim.attempt_id) == []


class TestFence:
    def test_nothing_is_written_after_the_lease_is_released(
        self, world: World, claim: Claim, recorder: AttemptRecorder
    ) -> None:
        world.do(claims.release_lease, claim.lease_id, "taken away")
        recorder.step(record(0))
        with pytest.raises(LeaseLost):
            recorder.flush()
        with pytest.raises(LeaseLost):
            recorder.evaluating(EndedBy.DONE, {})
        with pytest.raises(LeaseLost):
            recorder.lost(GONE, {}, after_action=False)
        assert steps(world, claim.attempt_id) == []
        (attempt,) = attempts(world, claim.episode_id)
        assert attempt.failure_message == "taken away"

    def test_nothing_is_written_after_the_lease_expires(
        self, world: World, claim: Claim, recorder: AttemptRecorder, hold: HeldLease
    ) -> None:
        hold.stop(LeaseLost("no heartbeat got through"))
        with pytest.raises(LeaseLost):
            recorder.lost(GONE, {}, after_action=False)
        assert attempts(world, claim.episode_id)[0].state == "running"


class TestLost:
    def test_is_written_by_a_stopped_attempt(
        self, world: World, claim: Claim, recorder: AttemptRecorder, hold: HeldLease
    ) -> None:
        hold.stop(ClusterLost("the worker was stopped"))
        stopped = AttemptFailure(FailureClass.CLUSTER, "worker_stopping", "the worker was stopped")
        recorder.lost(stopped, {"agent": 1.0}, after_action=False)
        (attempt,) = attempts(world, claim.episode_id)
        assert (attempt.state, attempt.failure_class, attempt.failure_code) == ("lost", "cluster", "worker_stopping")
        assert attempt.failure_message == "the worker was stopped"
        assert attempt.seconds == {"reset": 0.1, "agent": 1.0}

    def test_pending_step_is_written_first(self, world: World, claim: Claim, recorder: AttemptRecorder) -> None:
        recorder.step(record(0))
        recorder.lost(GONE, {}, after_action=True)
        assert len(steps(world, claim.attempt_id)) == 1


class TestCancelled:
    def test_reports_the_cancellation_from_the_heartbeat(self, recorder: AttemptRecorder, hold: HeldLease) -> None:
        assert not recorder.cancelled()
        hold.stop(Cancelled("the run was cancelled"))
        assert recorder.cancelled()

    def test_any_other_reason_to_stop_is_raised(self, recorder: AttemptRecorder, hold: HeldLease) -> None:
        hold.stop(ClusterLost("the worker was stopped"))
        with pytest.raises(ClusterLost):
            recorder.cancelled()


class TestStore:
    def test_folder_store_stores_the_frame(self, world: World, claim: Claim, hold: HeldLease, tmp_path: Path) -> None:
        from backend.services.artifacts.stores.folder import FolderStore

        store = FolderStore(tmp_path)
        recorder = AttemptRecorder(Database(world.factory), store, hold, claim.fence)
        recorder.running({}, None)
        recorder.step(record(0))
        recorder.flush()
        recorder.close()
        (kept,) = steps(world, claim.attempt_id)
        assert store.get(str(kept.frame_sha256)) == FRAME.data
