"""Recorder of an attempt: bytes go to the artifact store first, then rows, guarded by the lease's fencing token."""

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from sqlalchemy.orm import Session

from backend.db.models.enums import EvidenceRole
from backend.domain.errors import AttemptFailure, Cancelled, ClusterLost, Unavailable
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.machines.desktop_end import DesktopEnd
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Blob, Evaluation
from backend.domain.model.task import JSON, Task
from backend.domain.model.trajectory import StepRecord
from backend.domain.ports.storage import ArtifactStore
from backend.domain.screen.pictures import perceptual_hash
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvaluationBasis, EvidenceRow, Fence, StepRow
from backend.services.attempts.evidence import spec_of
from backend.telemetry import tracing
from backend.telemetry.logs import in_this_context
from worker.base.database import Database
from worker.base.lease import HeldLease

XML = "application/xml"
logger = logging.getLogger(__name__)


class AttemptRecorder:
    """Implements the Recorder port for one attempt, and writes its state transitions.

    A background thread writes steps in order while the page settles. While the database is unavailable every call
    waits, at most until the lease ends; then it raises LeaseLost.
    """

    def __init__(self, database: Database, store: ArtifactStore, hold: HeldLease, fence: Fence) -> None:
        """Args: database, store: targets; hold: the lease; fence: fencing token of every write."""
        self._database = database
        self._store = store
        self._hold = hold
        self._fence = fence
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recorder")
        self._writing: list[Future[None]] = []

    def step(self, record: StepRecord) -> None:
        self._writing.append(self._writer.submit(in_this_context(self._write), record))

    def flush(self) -> None:
        """Waits for all steps. Raises ClusterLost if there is no room for a picture."""
        while self._writing:
            self._writing.pop(0).result()

    def cancelled(self) -> bool:
        """Whether the run was cancelled. The heartbeat polls the database; this reads its result."""
        try:
            self._hold.check()
        except Cancelled:
            return True
        return False

    def close(self) -> None:
        """Waits for pending writes and ends the thread. Safe to call twice."""
        self._writer.shutdown()

    def _write(self, record: StepRecord) -> None:
        observation = record.observation
        frame = (
            self._keep(observation.frame.data, observation.frame.media_type) if observation.frame is not None else None
        )
        a11y = self._keep(observation.a11y_tree.encode(), XML) if observation.a11y_tree is not None else None
        view = (
            self._keep(observation.agent_view.data, observation.agent_view.media_type)
            if observation.agent_view is not None
            else None
        )
        prompt_text = record.decision.prompt
        prompt = self._keep(prompt_text.encode(errors="replace"), "text/plain") if prompt_text else None
        frame_hash = perceptual_hash(observation.frame) if observation.frame is not None else None
        row = StepRow(record, frame, a11y, view, prompt, frame_hash=frame_hash)
        self._database.insist(lambda session: attempts.record_step(session, self._fence, row), self._hold)

    def opening(self, facts: Mapping[str, object]) -> None:
        """The desktop is being created; `facts` describe the current phase."""
        self._database.insist(lambda session: attempts.note_opening(session, self._fence, facts), self._hold)

    def note_desktop(self, desktop: Mapping[str, Any]) -> None:
        """The desktop exists; `desktop` is the provider's description of it."""
        self._database.insist(lambda session: attempts.note_desktop(session, self._fence, desktop), self._hold)

    def running(self, seconds: Mapping[str, float], seen_at: float | None) -> None:
        """The desktop is set up; the agent starts. `seen_at`: when its screen was first seen, monotonic."""
        screen_at = seen_at if seen_at is not None else time.monotonic()

        def write(session: Session) -> None:
            # Sent as an age: the clocks of this machine and the database may differ.
            attempts.enter_running(session, self._fence, seconds, time.monotonic() - screen_at)

        self._database.insist(write, self._hold)

    def evaluating(self, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
        """The agent has stopped."""
        self._database.insist(
            lambda session: attempts.enter_evaluating(session, self._fence, ended_by, seconds), self._hold
        )

    def ended_from_inside(self, end: DesktopEnd) -> None:
        """The desktop was ended, or kept from answering, from inside; `end` is the evidence."""
        self._let_finish()
        end_values = end.model_dump(mode="json")
        self._database.insist(lambda session: attempts.note_desktop_end(session, self._fence, end_values), self._hold)

    def scored(
        self, task: Task, evaluation: Evaluation, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """Stores the verdict with its evidence. Raises ClusterLost if there is no room for the evidence."""
        tracing.annotate({"deskarena.outcome": "scored", "deskarena.score": evaluation.score})
        rows, judged = self._rows(task, evidence), EvaluationBasis(spec_of(task, evidence))
        self._database.insist(
            lambda session: attempts.finish_scored(session, self._fence, evaluation, rows, seconds, judged=judged),
            self._hold,
        )

    def unjudged(
        self, task: Task, failure: AttemptFailure, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """Stores evidence without a verdict. Raises ClusterLost if there is no room for it."""
        self._trace_failure(failure)
        rows, judged = self._rows(task, evidence), EvaluationBasis(spec_of(task, evidence))
        self._database.insist(
            lambda session: attempts.finish_unjudged(session, self._fence, failure, rows, seconds, judged=judged),
            self._hold,
        )

    def _rows(self, task: Task, evidence: Sequence[CallEvidence]) -> list[EvidenceRow]:
        return [
            self._evidence(position, role, getter, part, blob)
            for position, (call, gathered) in enumerate(zip(task.evaluator.all_calls, evidence, strict=False))
            for role, spec, blobs in (
                (EvidenceRole.RESULT, call.result, gathered.result),
                (EvidenceRole.EXPECTED, call.expected, gathered.expected),
            )
            for getter in (_getter(spec),)
            for part, blob in enumerate(blobs or ())
        ]

    def lost(self, failure: AttemptFailure, seconds: Mapping[str, float], *, after_action: bool) -> None:
        """Records an infrastructure failure; also the last write of an attempt that had to stop."""
        self._trace_failure(failure)
        self._let_finish()
        self._database.insist(
            lambda session: attempts.finish_lost(session, self._fence, failure, seconds, after_action=after_action),
            self._hold,
            last_words=True,
        )

    def was_cancelled(self, seconds: Mapping[str, float]) -> None:
        """The run was cancelled and the attempt has stopped."""
        tracing.annotate({"deskarena.outcome": "cancelled"})
        self._let_finish()
        self._database.insist(
            lambda session: attempts.finish_cancelled(session, self._fence, seconds), self._hold, last_words=True
        )

    @staticmethod
    def _trace_failure(failure: AttemptFailure) -> None:
        tracing.annotate({"deskarena.outcome": "lost", "deskarena.failure_class": failure.failure_class.value})
        tracing.fail_current(failure.code)

    def _let_finish(self) -> None:
        """Waits for a pending step before the end; its failure no longer matters."""
        wait(self._writing)

    def _evidence(self, position: int, role: EvidenceRole, getter: str, part: int, blob: Blob) -> EvidenceRow:
        stored = None if blob.data is None else self._keep(blob.data, blob.media_type)
        return EvidenceRow(position, role, getter, blob.name, stored, blob.note, part)

    def _keep(self, data: bytes, media_type: str) -> ArtifactRef:
        try:
            return ArtifactRef(self._store.put(data, media_type), len(data), media_type)
        except Unavailable as error:
            raise ClusterLost(error.message, code="service_unavailable", hint=error.hint) from error


def _getter(spec: Mapping[str, JSON] | None) -> str:
    return "" if spec is None else str(spec.get("type", ""))
