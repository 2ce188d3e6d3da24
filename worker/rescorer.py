"""Scores again what somebody asked for: stored evidence, a child process, no desktop."""

import logging
import time
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import DeskarenaError, EvaluatorFailed, Unavailable
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.ports_kept import ArtifactStore
from backend.domain.registry import Kind, lookup
from backend.domain.score import Blob, Evaluation
from backend.domain.task import Task
from backend.services import rescore
from backend.services.artifacts import ArtifactRef
from backend.services.attempts import EvidenceRow
from backend.services.evidence import Deskless, NeedsDesktop, Side
from backend.services.rescore import Job
from worker.asked import Asked
from worker.database import Database
from worker.evaluation.judge import Judge

logger = logging.getLogger(__name__)


class Rescorer(Asked):
    """Takes one request after the other."""

    def __init__(self, database: Database, store: ArtifactStore, judge: Judge, *, every: float) -> None:
        """Takes note.

        Args:
            database: the database.
            store: where evidence lies.
            judge: finds verdicts.
            every: seconds between two looks, if nobody wakes it.
        """
        self._database = database
        self._store = store
        self._judge = judge
        super().__init__("rescorer", every=every)

    def one(self) -> bool:
        """Does the next request (`Asked.one`)."""
        taken: list[UUID] = []
        try:
            return self._database.once(lambda session: self._work(session, taken))
        except Unavailable:
            raise
        except Exception as error:
            if not taken:
                raise
            if not isinstance(error, DeskarenaError):
                logger.exception("scoring %s again broke", taken[0])
            message = error.message if isinstance(error, DeskarenaError) else f"{type(error).__name__}: {error}"
            self._database.once(lambda session: rescore.fail(session, taken[0], message))
            return True

    def _work(self, session: Session, taken: list[UUID]) -> bool:
        job = rescore.take(session)
        if job is None:
            return False
        taken.append(job.rescore.id)
        if job.problem:
            raise EvaluatorFailed(f"the evidence lacks what is asked for: {job.problem}")
        before = time.monotonic()
        evaluation, rows = self._judged(job)
        rescore.finish(session, job, evaluation, rows, time.monotonic() - before)
        return True

    def _judged(self, job: Job) -> tuple[Evaluation, list[EvidenceRow]]:
        if job.ruled is not None or job.plan is None:
            return job.ruled or _no_plan(), []
        rows: list[EvidenceRow] = []
        gathered = []
        plan = job.plan
        asked = zip(plan.calls, plan.notes, plan.steps, plan.opened, strict=True)
        for position, (sides, notes, step, opened) in enumerate(asked):
            blobs = {side.role.value: self._blobs(job, side, position, rows) for side in sides}
            gathered.append(
                CallEvidence(
                    result=blobs.get("result"), expected=blobs.get("expected"), notes=notes, step=step, opened=opened
                )
            )
        return self._judge.verdict(job.task, gathered, ended_by=job.ended_by), rows

    def _blobs(self, job: Job, side: Side, position: int, rows: list[EvidenceRow]) -> tuple[Blob, ...]:
        """The blobs of one getter; what they are is added to `rows`, the evidence of the new verdict."""
        if side.anew:
            blobs = self._again(job, side)
            kept = [None if blob.data is None else self._keep(blob.data, blob.media_type) for blob in blobs]
        else:
            kept = [job.stored[row.sha256] if row.sha256 else None for row in side.rows]
            blobs = tuple(
                Blob(
                    name=row.blob_name,
                    note=row.note,
                    data=None if ref is None else self._store.get(ref.sha256),
                    media_type="application/octet-stream" if ref is None else ref.media_type,
                )
                for row, ref in zip(side.rows, kept, strict=True)
            )
        rows += [
            EvidenceRow(position, side.role, side.getter, blob.name, ref, blob.note, part)
            for part, (blob, ref) in enumerate(zip(blobs, kept, strict=True))
        ]
        return blobs

    def _again(self, job: Job, side: Side) -> tuple[Blob, ...]:
        """What the task set itself says, gathered as a worker does before it judges."""
        plugin = lookup(Kind.GETTER, side.getter, job.task.dialect)
        getter = plugin() if isinstance(plugin, type) else plugin
        parameters = {key: value for key, value in side.spec.items() if key != "type"}
        try:
            return tuple(getter.collect(_Files(job.task, job, self._store), parameters))
        except NeedsDesktop as error:
            raise EvaluatorFailed(f"getter {side.getter} needs a desktop: {error}") from error

    def _keep(self, data: bytes, media_type: str) -> ArtifactRef:
        return ArtifactRef(self._store.put(data, media_type), len(data), media_type)


class _Files(Deskless):
    """The files of a task, from the store."""

    def __init__(self, task: Task, job: Job, store: ArtifactStore) -> None:
        super().__init__(task)
        self._job = job
        self._store = store

    def asset(self, name: str) -> bytes:
        """See the port."""
        if name not in self._job.assets:
            raise EvaluatorFailed(f"the file {name!r} of the task set is not stored here")
        return self._store.get(self._job.assets[name])


def _no_plan() -> Evaluation:
    raise EvaluatorFailed("there is neither a rule nor evidence to judge by")
