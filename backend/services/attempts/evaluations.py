"""Storage of verdicts: an evaluation with measures and evidence, and the end of its attempt and episode."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Evaluation, Evidence, Measure, Run
from backend.db.models.enums import AttemptController, EvidenceRole
from backend.db.repositories.attempts import attempts as repository
from backend.db.repositories.capacity import workers
from backend.domain.model import score
from backend.domain.model.episode import AttemptState, EpisodeState, Outcome
from backend.services import events
from backend.services.artifacts import artifacts
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.events import EventKind
from backend.services.judging import judges
from backend.services.lifecycle import human_runs, validation_results
from backend.services.lifecycle.state_transitions import move_attempt, move_episode, reason_columns, settle
from backend.services.submissions import submissions


@dataclass(frozen=True)
class EvidenceRow:
    """One blob of evidence.

    Attributes:
        position: of the metric call in the task, from 0.
        part: of the blob among those of one getter, from 0.
        blob: reference to the stored bytes; None = absent.
    """

    position: int
    role: EvidenceRole
    getter: str
    blob_name: str
    blob: ArtifactRef | None = None
    note: str = ""
    part: int = 0


@dataclass(frozen=True)
class EvaluationBasis:
    """Versions and settings that an attempt was evaluated against.

    Attributes:
        spec: what was checked (`evidence.spec_of`).
        task_id: the defining task, if not the episode's own.
        current: whether the verdict counts from now on.
    """

    spec: Mapping[str, Any]
    task_id: UUID | None = None
    current: bool = True


@dataclass(frozen=True)
class EvaluationResult:
    """A verdict and its origin.

    Attributes:
        evidence: evidence of the verdict, or the submission itself.
        seconds: duration.
        judged: what was checked.
    """

    evaluation: score.Evaluation
    evidence: Sequence[EvidenceRow]
    seconds: float
    judged: EvaluationBasis


def add_evaluation(  # noqa: PLR0913 - what is known of a verdict
    session: Session,
    attempt: Attempt,
    evaluation: score.Evaluation,
    evidence: Sequence[EvidenceRow],
    seconds: float,
    *,
    judged: EvaluationBasis | None = None,
) -> Evaluation:
    """Stores an evaluation of the attempt with its measures and evidence; older ones stay."""
    judged = judged or EvaluationBasis({})
    if judged.current:
        for older in repository.evaluations(session, [attempt.id]):
            older.current = False
        session.flush()  # One evaluation of an attempt is current at any time.
    row = Evaluation(
        attempt_id=attempt.id,
        version=evaluation.version,
        score=evaluation.score,
        rule=evaluation.rule,
        metrics=[metric.model_dump(mode="json") for metric in evaluation.metrics],
        parts=[part.model_dump(mode="json") for part in evaluation.parts],
        spec=dict(judged.spec),
        task_id=judged.task_id,
        current=judged.current,
        seconds=seconds,
    )
    _add_evidence(session, row, evidence)
    if "CR" in evaluation.measures:
        judges.note_graph(session, attempt.id)
    session.add_all(
        Measure(evaluation_id=row.id, name=name, value=value) for name, value in evaluation.measures.items()
    )
    session.flush()
    return row


def keep_unjudged(  # noqa: PLR0913 - what is known of the evidence
    session: Session,
    attempt: Attempt,
    failure: str,
    evidence: Sequence[EvidenceRow],
    *,
    seconds: float,
    judged: EvaluationBasis,
) -> Evaluation:
    """Stores evidence without a verdict: an evaluation without a score, which counts nowhere.

    Args:
        session: the transaction.
        attempt: attempt of the evidence.
        failure: why there is no verdict.
        evidence: everything gathered.
        seconds: duration of gathering and evaluating.
        judged: what the evaluation was asked to check.
    """
    row = Evaluation(
        attempt_id=attempt.id,
        version=score.EVALUATOR_VERSION,
        score=None,
        failure=failure,
        spec=dict(judged.spec),
        current=False,
        seconds=seconds,
    )
    _add_evidence(session, row, evidence)
    return row


def end_judged(  # noqa: PLR0913 - all of them are locked by the caller
    session: Session,
    run: Run,
    attempt: Attempt,
    episode: Episode,
    judgement: EvaluationResult,
    *,
    spent: Mapping[str, float],
) -> Evaluation:
    """Ends attempt and episode as scored, or as submitted; all rows are locked by the caller.

    Args:
        session: the transaction.
        run: its run.
        attempt: in evaluation, or lost with stored evidence.
        episode: its episode.
        judgement: the verdict; without a score, people judge the work.
        spent: new seconds of the attempt by phase.
    """
    evaluation = judgement.evaluation
    goal, now = goal_of(evaluation), workers.now(session)
    row = add_evaluation(session, attempt, evaluation, judgement.evidence, judgement.seconds, judged=judgement.judged)
    if evaluation.handed_in:
        results = [
            (evidence.blob_name, evidence.blob)
            for evidence in judgement.evidence
            if evidence.role is EvidenceRole.RESULT and evidence.blob
        ]
        submissions.hand_in(session, attempt, episode, results)
    data = {"score": evaluation.score, "rule": evaluation.rule, "version": evaluation.version}
    events.append(session, run, EventKind.EVALUATION, data, episode_id=episode.id, attempt_id=attempt.id)
    move_attempt(
        session,
        run,
        attempt,
        goal,
        ended_at=attempt.ended_at or now,
        seconds={**attempt.seconds, **spent},
        failure_class=None,
        failure_code=None,
        failure_message="",
    )
    episode.human_assisted = attempt.controller == AttemptController.HUMAN_ASSISTED
    move_episode(
        session,
        run,
        episode,
        EpisodeState(goal),
        outcome=Outcome(goal).value,
        ended_by=attempt.ended_by,
        ended_at=now,
        **reason_columns(None),
        score=evaluation.score,
        solved=evaluation.solved,
        steps=attempt.current_step,
    )
    human_runs.note(session, run, episode, attempt)
    validation_results.note(session, run, episode, evaluation.version)
    settle(session, run)
    return row


def goal_of(evaluation: score.Evaluation) -> AttemptState:
    """The state in which a verdict ends an attempt."""
    return AttemptState.HANDED_IN if evaluation.handed_in else AttemptState.SCORED


def _add_evidence(session: Session, evaluation: Evaluation, evidence: Sequence[EvidenceRow]) -> None:
    artifacts.register_all(session, [item.blob for item in evidence if item.blob is not None])
    session.add(evaluation)
    session.flush()  # Measures and evidence refer to it.
    session.add_all(
        Evidence(
            evaluation_id=evaluation.id,
            position=item.position,
            role=item.role.value,
            part=item.part,
            getter=item.getter,
            blob_name=item.blob_name,
            sha256=item.blob.sha256 if item.blob else None,
            note=item.note,
        )
        for item in evidence
    )
    session.flush()
