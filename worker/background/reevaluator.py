"""Re-evaluation on request: stored evidence and a child process, without a desktop."""

from collections.abc import Callable
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt
from backend.db.repositories.attempts.reevaluations import hold_long
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.model.score import Blob, Evaluation
from backend.domain.ports.model import Models
from backend.domain.ports.storage import ArtifactStore
from backend.domain.registry import PluginKind, lookup
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.attempts import reevaluation, reevaluation_failures
from backend.services.attempts.evaluations import EvidenceRow
from backend.services.attempts.evidence import DesklessContext, EvidenceSide, NeedsDesktop
from backend.services.attempts.reevaluation import ReevaluationJob
from backend.telemetry import tracing
from worker.attempt.task_context import SingleJudgement, no_judge
from worker.attempt.vlm_judge import AttemptJudge
from worker.background.request_worker import RequestQueueWorker
from worker.base.database import Database
from worker.base.phases import Phases
from worker.evaluation.evaluator import Evaluator
from worker.models.model_pool import Interruption


class Rescorer(RequestQueueWorker):
    """Processes requests for re-evaluation. Its evaluations share the queue with those of episodes.

    Args:
        database: the database.
        store: artifact store with the evidence.
        judge: computes verdicts.
        models: opens the clients of a judge model; they wait with this object's `pause` and `check`.
        every: polling interval in seconds.
    """

    def __init__(
        self,
        database: Database,
        store: ArtifactStore,
        judge: Evaluator,
        models: Callable[[Interruption], Models],
        *,
        every: float,
    ) -> None:
        super().__init__(database, "rescorer", every=every)
        self._store = store
        self._judge = judge
        self._models = models
        self._has_view = False

    def process_next(self) -> bool:
        """Tests the sandbox before the transaction, not in it: the first test takes longer than one may be idle."""
        try:
            self._has_view = self._judge.sandbox.has_view
        except EvaluatorFailed:  # Tested again for the next request.
            self._has_view = False
        return super().process_next()

    def _work(self, session: Session, ids: list[UUID]) -> bool:
        job = reevaluation.claim_request(session, ids.append, functions=self._has_view)
        if job is None:
            return False
        if job.problem:
            raise EvaluatorFailed(f"the evidence is incomplete: {job.problem}", code="evidence_missing")
        phases = Phases()
        attempt = session.get_one(Attempt, job.rescore.attempt_id)
        facts = {"deskarena.episode.id": str(attempt.episode_id), "deskarena.attempt.id": str(attempt.id)}
        links = [attempt.trace_parent] if attempt.trace_parent else []
        with tracing.span("reevaluation", facts, links=links), phases.timed("evaluation"):
            evaluation, rows = self._judge_job(job, self._line(session, phases))
        reevaluation.finish(session, job, evaluation, rows, phases.seconds()["evaluation"])
        return True

    def _line(self, session: Session, phases: Phases) -> Callable[[float], None]:
        """Waits for a turn, outside the evaluation's time.

        Pings the server, which would otherwise close an idle connection.
        """

        def pause(seconds: float) -> None:
            with phases.timed("turn"):
                self.pause(seconds)
                self.check()
                hold_long(session)

        return pause

    def _fail(self, session: Session, request_id: UUID, message: str, code: str) -> None:
        reevaluation_failures.fail(session, request_id, message, code)

    def _put_off(self, session: Session, request_id: UUID, message: str) -> bool:
        reevaluation_failures.put_off(session, request_id, message)
        return True

    def _judge_job(self, job: ReevaluationJob, pause: Callable[[float], None]) -> tuple[Evaluation, list[EvidenceRow]]:
        if job.ruled is not None or job.plan is None:
            return job.ruled or _no_plan(), []
        rows: list[EvidenceRow] = []
        gathered = []
        plan, files = job.plan, _Files(job, self._store, self._asking(job))
        calls = zip(plan.calls, plan.notes, plan.steps, plan.opened, strict=True)
        for position, (sides, notes, step, opened) in enumerate(calls):
            blobs = {side.role.value: self._blobs(job, files, side, position, rows) for side in sides}
            gathered.append(
                CallEvidence(
                    result=blobs.get("result"), expected=blobs.get("expected"), notes=notes, step=step, opened=opened
                )
            )
        return self._judge.verdict(job.task, gathered, ended_by=job.ended_by, pause=pause), rows

    def _asking(self, job: ReevaluationJob) -> Callable[[], bytes]:
        """The judge for the stored pictures; its votes are stored independently of this transaction."""
        if job.judge is None:
            return no_judge
        return AttemptJudge(
            config=job.judge,
            task=job.task,
            attempt_id=job.rescore.attempt_id,
            in_database=self._database.once,
            fetch=self._store.get,
            models=lambda: self._models(self),
        )

    def _blobs(
        self, job: ReevaluationJob, files: "_Files", side: EvidenceSide, position: int, rows: list[EvidenceRow]
    ) -> tuple[Blob, ...]:
        """The blobs of one getter; their metadata is added to `rows`, the evidence of the new verdict."""
        if side.anew:
            blobs = self._again(job, files, side)
            refs = [None if blob.data is None else self._keep(blob.data, blob.media_type) for blob in blobs]
        else:
            refs = [job.stored[row.sha256] if row.sha256 else None for row in side.rows]
            blobs = tuple(
                Blob(
                    name=row.blob_name,
                    note=row.note,
                    data=None if ref is None else self._store.get(ref.sha256),
                    media_type="application/octet-stream" if ref is None else ref.media_type,
                )
                for row, ref in zip(side.rows, refs, strict=True)
            )
        rows += [
            EvidenceRow(position, side.role, side.getter, blob.name, ref, blob.note, part)
            for part, (blob, ref) in enumerate(zip(blobs, refs, strict=True))
        ]
        return blobs

    @staticmethod
    def _again(job: ReevaluationJob, files: "_Files", side: EvidenceSide) -> tuple[Blob, ...]:
        """Gathers what comes from the task set or a judge, as a worker does before evaluating."""
        plugin = lookup(PluginKind.GETTER, side.getter, job.task.dialect)
        getter = plugin() if isinstance(plugin, type) else plugin
        parameters = {key: value for key, value in side.spec.items() if key != "type"}
        try:
            return tuple(getter.collect(files, parameters))
        except NeedsDesktop as error:
            raise EvaluatorFailed(f"getter {side.getter} needs a desktop: {error}", code="desktop_needed") from error

    def _keep(self, data: bytes, media_type: str) -> ArtifactRef:
        return ArtifactRef(self._store.put(data, media_type), len(data), media_type)


class _Files(DesklessContext):
    """Context without a desktop: the task's files from the store, and a judge of the stored pictures."""

    def __init__(self, job: ReevaluationJob, store: ArtifactStore, judge: Callable[[], bytes]) -> None:
        super().__init__(job.task)
        self._job = job
        self._store = store
        self.judgement = SingleJudgement(judge)

    def asset(self, name: str) -> bytes:
        if name not in self._job.assets:
            raise EvaluatorFailed(f"the task set's file {name!r} is not stored here", code="file_not_stored")
        return self._store.get(self._job.assets[name])


def _no_plan() -> Evaluation:
    raise EvaluatorFailed("there is neither a rule nor evidence to evaluate", code="evidence_missing")
