"""Storage of judges' prompts and answers: nothing is paid for twice, everything is counted."""

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Judge, Project
from backend.db.models.enums import JudgeKind
from backend.db.repositories.judging import judges as repository
from backend.domain.errors import NotFound
from backend.domain.judging.ask import Question
from backend.domain.judging.criteria import criteria_of
from backend.domain.judging.judge_input import JudgeInputStep, StoredPicture
from backend.domain.judging.judgement import Judgement, JudgeReply
from backend.domain.judging.prompt import PROMPT_SHA256
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.task import Task, digest
from backend.services.runs.action_description import action_words

GRAPH = "evaluator of graphs"


@dataclass(frozen=True)
class AnswerKey:
    """Identity of an answer.

    Attributes:
        question: hash of everything that determines it.
        vote: its number.
    """

    judge_id: UUID
    attempt_id: UUID
    question: str
    vote: int


@dataclass(frozen=True)
class JudgeCost:
    """Cost of a judge's answers, including unusable ones.

    Attributes:
        priced: False if some have no price, so `usd` is a lower bound.
    """

    answers: int
    usd: float
    priced: bool


def cost_of_run(session: Session, run_id: UUID) -> JudgeCost:
    """Over all attempts of a run, including lost ones. Not part of the agent's cost."""
    return JudgeCost(*repository.judge_costs(session, run_id=run_id))


def cost_of_attempt(session: Session, attempt_id: UUID) -> JudgeCost:
    """Of one attempt."""
    return JudgeCost(*repository.judge_costs(session, attempt_id=attempt_id))


def get_judge(session: Session, judge_id: UUID) -> Judge:
    """The judge. Raises NotFound."""
    judge = repository.get(session, judge_id)
    if judge is None:
        raise NotFound(
            f"there is no judge {judge_id}", code="judge_not_found", hint="`deskarena judge list` shows them."
        )
    return judge


def list_judges(session: Session, project: Project) -> list[Judge]:
    """All judges that have judged something, newest first."""
    return repository.listing(session, project.id)


def note_graph(session: Session, attempt_id: UUID) -> None:
    """Registers the evaluator of a graph of subtasks as a judge, as people can check its measures."""
    project_id = repository.project_of(session, attempt_id)
    values = {"kind": JudgeKind.GRAPH.value, "endpoint": "", "model": GRAPH, "prompt_sha256": "", "config": {}}
    repository.get_or_make(session, project_id, digest([JudgeKind.GRAPH.value]), values)


def question_of(session: Session, attempt_id: UUID, task: Task, config: JudgeConfig) -> Question:
    """Question to this judge about an attempt with stored steps.

    Raises:
        EvaluatorFailed: The task is invalid (`criteria_of`).
    """
    return Question(config, task.instruction, criteria_of(task), input_steps(session, attempt_id), task.max_steps)


def input_steps(session: Session, attempt_id: UUID) -> tuple[JudgeInputStep, ...]:
    """An attempt as shown to a judge, and to people who check it."""
    return tuple(
        JudgeInputStep(
            index=row.index,
            actions="; ".join(action_words(action) for action in row.actions),
            picture=_picture(row._mapping),  # noqa: SLF001 - SQLAlchemy's public name for it.
            final=any(isinstance(result, Mapping) and result.get("final") for result in row.results),
        )
        for row in repository.input_steps(session, attempt_id)
    )


def _picture(row: Mapping[Any, Any]) -> StoredPicture | None:
    values = {name: row[name] for name in StoredPicture.model_fields}
    return None if None in values.values() else StoredPicture.model_validate(values)


def judge_of_attempt(session: Session, attempt_id: UUID, config: JudgeConfig) -> UUID:
    """The judge of this configuration with the current prompt, in the attempt's project."""
    settings = config.model_dump(mode="json")
    values = {
        "kind": JudgeKind.VLM.value,
        "endpoint": config.endpoint,
        "model": config.model,
        "prompt_sha256": PROMPT_SHA256,
        "config": settings,
    }
    project_id = repository.project_of(session, attempt_id)
    return repository.get_or_make(session, project_id, digest([settings, PROMPT_SHA256]), values).id


def known_answer(session: Session, question: str, vote: int) -> JudgeReply | None:
    """A usable stored answer to this question; None if there is none."""
    row = repository.usable_answer(session, question, vote)
    return None if row is None else JudgeReply.model_validate(row.response)


def keep_answer(session: Session, answer_id: UUID, key: AnswerKey, reply: JudgeReply) -> None:
    """Stores an answer with its cost. Safe to call twice with the same id."""
    values = {
        "id": answer_id,
        "judge_id": key.judge_id,
        "attempt_id": key.attempt_id,
        "request_hash": key.question,
        "vote_index": key.vote,
        "usable": not reply.problem,
        "response": reply.model_dump(mode="json"),
        "usd": reply.usage.usd,
        "priced": reply.usage.priced,
    }
    repository.add_answer(session, values)


def keep_verdicts(session: Session, judge_id: UUID, attempt_id: UUID, judgement: Judgement) -> None:
    """Stores the majority verdict on each criterion, so that people can check it."""
    texts = {criterion.name: criterion.text for criterion in judgement.criteria}
    rows = [
        {
            "criterion": verdict.name,
            "text": texts[verdict.name],
            "reached": verdict.reached,
            "step": verdict.step,
            "reason": verdict.reason,
        }
        for verdict in judgement.verdicts(judgement.criteria)
    ]
    repository.replace_verdicts(session, judge_id, attempt_id, rows)
