"""Writes what an attempt does: bytes into the artifact store first, then rows, each fenced by the lease's token."""

import logging
import time
from collections.abc import Mapping, Sequence
from concurrent.futures import Future, ThreadPoolExecutor, wait
from typing import Any

from sqlalchemy.orm import Session

from backend.db.models.enums import EvidenceRole
from backend.domain.errors import Cancelled, ClusterLost, MachineLost, Unavailable
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Blob, Evaluation
from backend.domain.model.task import JSON, Task
from backend.domain.model.trajectory import StepRecord
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import attempts
from backend.services.attempts.attempts import EvaluationBasis, EvidenceRow, Fence, StepRow
from backend.services.attempts.evidence import spec_of
from worker.base.database import Database
from worker.base.lease import HeldLease

XML = "application/xml"
logger = logging.getLogger(__name__)


class AttemptRecorder:
    """Implements the Recorder port for one attempt, and writes its moves from state to state.

    Steps are written by a thread of their own, one after the other, while the page settles. While the database is away
    every call waits for it, at most until the lease's end; then it raises LeaseLost.
    """

    def __init__(self, database: Database, store: ArtifactStore, hold: HeldLease, fence: Fence) -> None:
        """Args: database, store: where to; hold: the lease that allows it; fence: shown with every write."""
        self._database = database
        self._store = store
        self._hold = hold
        self._fence = fence
        self._writer = ThreadPoolExecutor(max_workers=1, thread_name_prefix="recorder")
        self._writing: list[Future[None]] = []

    def step(self, record: StepRecord) -> None:
        """See the port."""
        self._writing.append(self._writer.submit(self._write, record))

    def flush(self) -> None:
        """See the port. Raises ClusterLost when there is no room for the picture."""
        while self._writing:
            self._writing.pop(0).result()

    def cancelled(self) -> bool:
        """See the port. The heartbeat asks the database; this only looks what it was told."""
        try:
            self._hold.check()
        except Cancelled:
            return True
        return False

    def close(self) -> None:
        """Waits for what is being written, and ends the writing thread. Safe to call twice."""
        self._writer.shutdown()

    def _write(self, record: StepRecord) -> None:
        observation = record.observation
        frame = (
            self._keep(observation.frame.data, observation.frame.media_type) if observation.frame is not None else None
        )
        a11y = self._keep(observation.a11y_tree.encode(), XML) if observation.a11y_tree is not None else None
        shown = (
            self._keep(observation.shown.data, observation.shown.media_type) if observation.shown is not None else None
        )
        prompt_text = record.decision.prompt
        prompt = self._keep(prompt_text.encode(errors="replace"), "text/plain") if prompt_text else None
        row = StepRow(record, frame, a11y, shown, prompt)
        self._database.insist(lambda session: attempts.record_step(session, self._fence, row), self._hold)

    def opening(self, facts: Mapping[str, object]) -> None:
        """The desktop is being made; `facts` say what is waited for."""
        self._database.insist(lambda session: attempts.note_opening(session, self._fence, facts), self._hold)

    def opened(self, desktop: Mapping[str, Any]) -> None:
        """A desktop was made; `desktop` is what its provider says of it."""
        self._database.insist(lambda session: attempts.note_desktop(session, self._fence, desktop), self._hold)

    def running(self, seconds: Mapping[str, float], seen_at: float | None) -> None:
        """The desktop is set up; the agent's part begins. `seen_at`: when its screen was first seen, monotonic."""
        screen_at = seen_at if seen_at is not None else time.monotonic()

        def write(session: Session) -> None:
            # As an age: this machine's clock may be beside the database's.
            attempts.enter_running(session, self._fence, seconds, time.monotonic() - screen_at)

        self._database.insist(write, self._hold)

    def evaluating(self, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
        """The agent has stopped."""
        self._database.insist(
            lambda session: attempts.enter_evaluating(session, self._fence, ended_by, seconds), self._hold
        )

    def scored(
        self, task: Task, evaluation: Evaluation, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """The verdict with its evidence. Raises ClusterLost when there is no room for the evidence."""
        rows, judged = self._rows(task, evidence), EvaluationBasis(spec_of(task, evidence))
        self._database.insist(
            lambda session: attempts.finish_scored(session, self._fence, evaluation, rows, seconds, judged=judged),
            self._hold,
        )

    def unjudged(
        self, task: Task, message: str, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        """There is no verdict, only its evidence. Raises ClusterLost when there is no room for it."""
        rows, judged = self._rows(task, evidence), EvaluationBasis(spec_of(task, evidence))
        self._database.insist(
            lambda session: attempts.finish_unjudged(session, self._fence, message, rows, seconds, judged=judged),
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

    def lost(self, error: MachineLost, message: str, seconds: Mapping[str, float], *, after_action: bool) -> None:
        """The machine failed; also the last word of an attempt that had to stop."""
        self._let_finish()
        self._database.insist(
            lambda session: attempts.finish_lost(
                session, self._fence, error.failure_class, message, seconds, after_action=after_action
            ),
            self._hold,
            last_words=True,
        )

    def was_cancelled(self, seconds: Mapping[str, float]) -> None:
        """The run was cancelled and the attempt has stopped."""
        self._let_finish()
        self._database.insist(
            lambda session: attempts.finish_cancelled(session, self._fence, seconds), self._hold, last_words=True
        )

    def _let_finish(self) -> None:
        """A step that is being written belongs before the end; whether that works changes nothing any more."""
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
