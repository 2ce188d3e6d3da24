"""Verdicts as they are stored: an evaluation with measures and evidence, and the end of its attempt and episode."""

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
from backend.services.lifecycle.state_transitions import move, settle
from backend.services.submissions import submissions


@dataclass(frozen=True)
class EvidenceRow:
    """One blob of evidence.

    Attributes:
        position: of the metric call in the task, from 0.
        part: of the blob among those of one getter, from 0.
        blob: where it is stored; None = it was absent.
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
    """By what an attempt was judged.

    Attributes:
        spec: what was to be checked (`evidence.spec_of`).
        task_id: the task that says so, where that is not the episode's own.
        current: the verdict counts from now on.
    """

    spec: Mapping[str, Any]
    task_id: UUID | None = None
    current: bool = True


@dataclass(frozen=True)
class EvaluationResult:
    """A verdict and where it comes from.

    Attributes:
        evidence: what it was found on, the work itself if it is handed in.
        seconds: that it took.
        judged: what was to be checked.
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
    """Keeps evidence on which no verdict could be found: an evaluation without score, that counts nowhere.

    Args:
        session: the transaction.
        attempt: whose evidence.
        failure: why there is no verdict, in words.
        evidence: all that was gathered.
        seconds: spent on gathering and judging.
        judged: what the verdict was told to check.
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
    """The attempt is scored, or its work handed in, and with it its episode; all locked by the caller.

    Args:
        session: the transaction.
        run: its run.
        attempt: one that is being evaluated, or was lost and its evidence kept.
        episode: its episode.
        judgement: the verdict; without a score, people judge the work.
        spent: seconds of the attempt by phase, those that are new.
    """
    evaluation = judgement.evaluation
    goal, now = goal_of(evaluation), workers.now(session)
    row = add_evaluation(session, attempt, evaluation, judgement.evidence, judgement.seconds, judged=judgement.judged)
    if evaluation.handed_in:
        results = [
            (one.blob_name, one.blob) for one in judgement.evidence if one.role is EvidenceRole.RESULT and one.blob
        ]
        submissions.hand_in(session, attempt, episode, results)
    data = {"score": evaluation.score, "rule": evaluation.rule, "version": evaluation.version}
    events.append(session, run, EventKind.EVALUATION, data, episode_id=episode.id, attempt_id=attempt.id)
    sound = {"failure_class": None, "failure_message": ""}
    seconds = {**attempt.seconds, **spent}
    move(session, run, attempt, goal, ended_at=attempt.ended_at or now, seconds=seconds, **sound)
    values = {"outcome": Outcome(goal).value, "ended_by": attempt.ended_by, "ended_at": now, "reason": ""}
    verdict = {"score": evaluation.score, "solved": evaluation.solved, "steps": attempt.current_step}
    episode.mixed = attempt.controller == AttemptController.MIXED
    move(session, run, episode, EpisodeState(goal), **values, **verdict)
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
