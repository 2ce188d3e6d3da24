"""A judge's stored answers on an attempt, and the majority of its votes."""

from collections.abc import Mapping, Sequence

from pydantic import Field, ValidationError

from backend.domain.errors import EvaluatorFailed
from backend.domain.judging.criteria import Criterion
from backend.domain.judging.reply import BrokenReply, CriterionVerdict, read_reply
from backend.domain.model.judge_config import JudgeConfig
from backend.domain.model.score import MetricValue
from backend.domain.model.task import Frozen
from backend.domain.model.trajectory import Usage
from backend.domain.model.validation_words import problem_words


class JudgeReply(Frozen):
    """One answer of the model.

    Attributes:
        text: verbatim (`backend.domain.judging.reply.text_of`).
        problem: why it is unusable; empty if it is usable.
        model: the answering model's name in the API.
        usage: tokens and costs.
        dropped: settings of the judge that the API does not support.
    """

    text: str
    problem: str = ""
    model: str = ""
    usage: Usage = Usage()
    dropped: tuple[str, ...] = ()


class Vote(Frozen):
    """One vote: a usable answer, after at most one unusable one.

    Attributes:
        number: from 0.
        replies: answers in order; the last one counts.
        cached: the answer was stored before and cost nothing now.
    """

    number: int
    replies: tuple[JudgeReply, ...] = Field(min_length=1)
    cached: bool = False


class Judgement(Frozen):
    """All questions to a judge and its answers on one attempt: the evidence of the metric `vlm_judge`.

    Attributes:
        judge: the judge.
        prompt_sha256, input_sha256: hashes of the question.
        criteria: all criteria.
        last_step: number of the attempt's last step; None without steps.
        pictures: positions of the steps whose pictures the judge was shown.
        left_out: number of pictures that it was not shown.
        votes: as many as the judge has.
    """

    judge: JudgeConfig
    prompt_sha256: str
    input_sha256: str
    criteria: tuple[Criterion, ...]
    last_step: int | None
    pictures: tuple[int, ...]
    left_out: int = Field(default=0, ge=0)
    votes: tuple[Vote, ...]

    @classmethod
    def from_evidence(cls, data: object) -> "Judgement":
        """Parses evidence. Raises EvaluatorFailed if it is malformed."""
        try:
            return cls.model_validate(data)
        except ValidationError as error:
            first = error.errors(include_url=False, include_input=False)[0]
            path = ".".join(map(str, first["loc"]))
            raise EvaluatorFailed(
                f"the judge's evidence is damaged: {path}: {problem_words(first)}", code="evidence_damaged"
            ) from error

    @property
    def usage(self) -> Usage:
        """Tokens and costs spent now."""
        usages = [reply.usage for vote in self.votes if not vote.cached for reply in vote.replies]
        return sum(usages, Usage())

    def verdicts(self, criteria: Sequence[Criterion]) -> tuple[CriterionVerdict, ...]:
        """The majority's verdicts on these criteria, which must be those that the judge was given.

        Raises:
            EvaluatorFailed: the criteria differ, votes are missing, or a vote does not match the criteria.
        """
        if tuple(criteria) != self.criteria:
            raise EvaluatorFailed("the judge's criteria differ from the task's", code="judge_evidence_mismatch")
        votes = self._read()
        return tuple(_majority(criterion.name, [vote[criterion.name] for vote in votes]) for criterion in criteria)

    def value(self, name: str, criteria: Sequence[Criterion]) -> MetricValue:
        """The majority's verdict on one criterion; `progress` is the share of votes for it.

        Raises:
            EvaluatorFailed: see `verdicts`, or the criterion is unknown.
        """
        majority = next((verdict for verdict in self.verdicts(criteria) if verdict.name == name), None)
        if majority is None:
            raise EvaluatorFailed(f"the judge has no criterion {name[:100]!r}", code="judge_evidence_mismatch")
        share = sum(vote[name].reached for vote in self._read()) / len(self.votes)
        agree = round(share * len(self.votes)) if majority.reached else round((1 - share) * len(self.votes))
        message = f"{agree} of {len(self.votes)} votes of {self.judge.model}: " if len(self.votes) > 1 else ""
        reasons = [f"{message}{majority.reason}"]
        if self.left_out:
            reasons.append(f"the judge was shown {len(self.pictures)} of {len(self.pictures) + self.left_out} pictures")
        return MetricValue(value=float(majority.reached), reasons=tuple(reasons), step=majority.step, progress=share)

    def _read(self) -> list[Mapping[str, CriterionVerdict]]:
        if sorted(vote.number for vote in self.votes) != list(range(self.judge.votes)):
            raise EvaluatorFailed(
                f"the judge has {self.judge.votes} votes, but {len(self.votes)} are there",
                code="judge_evidence_mismatch",
            )
        try:
            read = [read_reply(vote.replies[-1].text, self.criteria, self.last_step) for vote in self.votes]
        except BrokenReply as broken:
            raise EvaluatorFailed(
                f"the judge's answer cannot be used: {broken}", code="judge_answer_invalid"
            ) from broken
        return [{verdict.name: verdict for verdict in vote} for vote in read]


def _majority(name: str, votes: Sequence[CriterionVerdict]) -> CriterionVerdict:
    """The majority's verdict, with the first matching reason and the lower median of the steps."""
    reached = sum(vote.reached for vote in votes) * 2 > len(votes)
    agreeing = [vote for vote in votes if vote.reached == reached]
    steps = sorted(vote.step for vote in agreeing if vote.step is not None)
    step = steps[(len(steps) - 1) // 2] if steps else None
    return CriterionVerdict(name=name, reached=reached, step=step, reason=agreeing[0].reason)
