"""Asks a judge for a number of votes, each with one retry after an unusable answer."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Protocol

from backend.domain.errors import EvaluatorFailed, Invalid, ModelApiFailed
from backend.domain.judging.criteria import Criterion
from backend.domain.judging.judge_input import JudgeInputStep, last_step, left_out, picture_positions
from backend.domain.judging.judgement import Judgement, JudgeReply, Vote
from backend.domain.judging.prompt import PROMPT_SHA256, input_sha256, messages, repair, scaled_picture
from backend.domain.judging.reply import BrokenReply, read_reply, text_of, verdict_tool
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.ports.model import Message, ModelClient, ModelReply, ModelRequest, StopReason

MAX_PROBLEM = 500


@dataclass(frozen=True)
class Question:
    """The question to a judge.

    Attributes:
        judge: the judge.
        instruction: instruction of the task.
        criteria: criteria from `criteria_of`.
        steps: the attempt.
        max_steps: the task's own step budget; None if it has none.
    """

    judge: JudgeConfig
    instruction: str
    criteria: tuple[Criterion, ...]
    steps: tuple[JudgeInputStep, ...]
    max_steps: int | None = None

    @property
    def most(self) -> int:
        """Maximum number of pictures."""
        return self.judge.most_pictures(self.max_steps)

    @property
    def sha256(self) -> str:
        """Sha256 (hex) of everything that decides one vote."""
        return input_sha256(self.judge.of_one_vote(), self.instruction, self.criteria, self.steps, self.most)


class VoteStore(Protocol):
    """Stores answers, so that none is paid for twice and every one is counted."""

    def known(self, input_sha256: str, number: int) -> JudgeReply | None:
        """A usable answer to this question for this vote; None if there is none."""
        ...

    def keep(self, input_sha256: str, number: int, reply: JudgeReply) -> None:
        """Stores an answer, even an unusable one: it was paid for."""
        ...


def judge(
    question: Question, client: Callable[[], ModelClient], store: VoteStore, fetch: Callable[[str], bytes]
) -> Judgement:
    """All votes of a judge on an attempt.

    Args:
        question: the question.
        client: the model's client, created only for a vote that is not stored.
        store: earlier answers.
        fetch: returns the bytes of a picture by its hash.

    Raises:
        EvaluatorFailed: the model gave no answer, refused, or gave two unusable answers.
    """
    if not question.criteria:
        raise EvaluatorFailed("the task has nothing for a judge", code="task_has_no_criteria")
    steps, config, key = question.steps, question.judge, question.sha256
    positions = picture_positions(steps, question.most)
    if not positions:
        raise EvaluatorFailed("the attempt has no picture for a judge", code="picture_missing")
    voter = _Voter(question, positions, client, store, fetch)
    return Judgement(
        judge=config,
        prompt_sha256=PROMPT_SHA256,
        input_sha256=key,
        criteria=question.criteria,
        last_step=last_step(steps),
        pictures=positions,
        left_out=left_out(steps, positions),
        votes=tuple(voter.vote(number, key) for number in range(config.votes)),
    )


class _Voter:
    """Collects the votes one after the other; the question with its pictures is built once."""

    def __init__(
        self,
        question: Question,
        positions: tuple[int, ...],
        client: Callable[[], ModelClient],
        store: VoteStore,
        fetch: Callable[[str], bytes],
    ) -> None:
        self._question = question
        self._shown = positions
        self._client = client
        self._store = store
        self._fetch = fetch
        self._prompt: tuple[Message, ...] | None = None

    def vote(self, number: int, key: str) -> Vote:
        stored = self._store.known(key, number)
        if stored is not None and not self._problem(stored.text):
            return Vote(number=number, replies=(stored,), cached=True)
        messages = self._prompt = self._prompt or self._messages()
        first = self._ask(number, key, messages)
        if not first.problem:
            return Vote(number=number, replies=(first,))
        second = self._ask(number, key, (*messages, *repair(first.text, first.problem, self._question.criteria)))
        if second.problem:
            raise EvaluatorFailed(
                f"the judge's answer cannot be used, and neither can the next: {second.problem}",
                code="judge_answer_invalid",
            )
        return Vote(number=number, replies=(first, second))

    def _messages(self) -> tuple[Message, ...]:
        question, side = self._question, self._question.judge.picture_side
        return messages(
            question.instruction,
            question.criteria,
            question.steps,
            self._shown,
            lambda picture: scaled_picture(picture, self._fetch, side),
        )

    def _ask(self, number: int, key: str, messages: tuple[Message, ...]) -> JudgeReply:
        answer = self._complete(number, messages)
        text = text_of(answer)
        refused = answer.stop is StopReason.REFUSAL
        problem = answer.problem or self._problem(text)
        reply = JudgeReply(text=text, problem=problem, model=answer.model, usage=answer.usage, dropped=answer.dropped)
        self._store.keep(key, number, reply)
        if refused:
            raise EvaluatorFailed("the judge refused to answer", code="judge_refused")
        return reply

    def _complete(self, number: int, messages: tuple[Message, ...]) -> ModelReply:
        config = self._question.judge
        request = ModelRequest(
            model=config.model,
            messages=messages,
            tools=(verdict_tool(self._question.criteria),),
            temperature=config.temperature,
            max_tokens=config.max_tokens,
            seed=number,
        )
        try:
            return self._client().complete(request)
        except (ModelApiFailed, Invalid) as error:
            # The agent's work is done: another attempt, which a lost model API would cause, would repeat it.
            raise EvaluatorFailed(
                f"the judge gave no answer: {error.message}", code="judge_failed", hint=error.hint
            ) from error

    def _problem(self, text: str) -> str:
        try:
            read_reply(text, self._question.criteria, last_step(self._question.steps))
        except BrokenReply as broken:
            return str(broken)[:MAX_PROBLEM]
        return ""
