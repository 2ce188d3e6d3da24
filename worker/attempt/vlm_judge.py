"""Calls an attempt's judge once its agent has stopped and its pictures are stored."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.domain.judging.ask import judge
from backend.domain.judging.judgement import Judgement, JudgeReply
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.task import Task
from backend.domain.ports.model import Models
from backend.services.judging import judges
from backend.services.judging.judges import AnswerKey

T = TypeVar("T")


class TransactionRunner(Protocol):
    """Runs a function in its own transaction; it may run twice."""

    def __call__(self, work: Callable[[Session], T], /) -> T:
        """Returns the function's result."""
        ...


@dataclass(frozen=True)
class AttemptJudge:
    """One judge for one attempt. Implements the VoteStore port on the database.

    Attributes:
        fetch: bytes of a picture by hash.
        models: opens the model clients; they are closed after the judgement.
    """

    config: JudgeConfig
    task: Task
    attempt_id: UUID
    in_database: TransactionRunner
    fetch: Callable[[str], bytes]
    models: Callable[[], Models]

    def __call__(self) -> bytes:
        """The judgement as JSON.

        Raises:
            EvaluatorFailed: There is none.
            DeskarenaError: The attempt must stop.
        """
        question = self.in_database(
            lambda session: judges.question_of(session, self.attempt_id, self.task, self.config)
        )
        models = self.models()
        try:
            judgement = judge(question, lambda: models.client(self.config.endpoint), self, self.fetch)
        finally:
            models.close()
        self.in_database(lambda session: self._keep(session, judgement))
        return judgement.model_dump_json().encode()

    def known(self, input_sha256: str, number: int) -> JudgeReply | None:
        return self.in_database(lambda session: judges.known_answer(session, input_sha256, number))

    def keep(self, input_sha256: str, number: int, reply: JudgeReply) -> None:
        answer_id = uuid7()

        def write(session: Session) -> None:
            judge_id = judges.judge_of_attempt(session, self.attempt_id, self.config)
            key = AnswerKey(judge_id, self.attempt_id, input_sha256, number)
            judges.keep_answer(session, answer_id, key, reply)

        self.in_database(write)

    def _keep(self, session: Session, judgement: Judgement) -> None:
        judge_id = judges.judge_of_attempt(session, self.attempt_id, self.config)
        judges.keep_verdicts(session, judge_id, self.attempt_id, judgement)
