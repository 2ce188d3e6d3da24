"""What an evaluation says: verdict, measures, reasons; and the rules that join metrics to one score."""

from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.model.episode import EndedBy
from backend.domain.model.task import EvaluatorSpec, Frozen, PartKind

SOLVED_TOLERANCE = 1e-9
GAVE_UP = "the task is feasible and the agent gave it up"
HANDED_IN = "the work is handed in: people judge it"
EVALUATOR_VERSION = "1"


class MetricValue(Frozen):
    """What one metric found.

    Attributes:
        value: in [0, 1].
        reasons: why, in words.
        step: index of the step by which it was so, where the metric knows (a judge of the trajectory does).
        progress: share of its conditions that were met, where there are several; enters no score.
    """

    value: float = Field(ge=0.0, le=1.0)
    reasons: tuple[str, ...] = ()
    step: int | None = Field(default=None, ge=0)
    progress: float | None = Field(default=None, ge=0.0, le=1.0)


class Blob(Frozen):
    """Raw bytes that a getter collected; `data` None = the thing was absent, which is itself evidence.

    Attributes:
        name: what it is, for example the guest path.
        note: why it is absent, or where it came from.
    """

    name: str
    data: bytes | None = Field(default=None, repr=False)
    media_type: str = "application/octet-stream"
    note: str = ""


class MetricEvidence(Frozen):
    """One metric call with its outcome, as stored and shown; `part` is the part that it belongs to, if any."""

    func: str
    value: float
    reasons: tuple[str, ...] = ()
    result: Any = None  # short JSON form of what was read
    expected: Any = None
    part: str = ""


class PartResult(Frozen):
    """What became of one part of a task.

    Attributes:
        name, kind, text, app, weight: as in the task.
        value: in [0, 1]; 1 = reached.
        step: index of the step after which it was first reached; None if it was not, or nobody can say when.
        progress: share of its conditions that were met; enters no measure.
        opened: False if it was never its turn: something that comes before it was not reached.
    """

    name: str
    kind: PartKind
    value: float = Field(ge=0.0, le=1.0)
    text: str = ""
    app: str = ""
    weight: float = 1.0
    step: int | None = None
    progress: float | None = None
    reasons: tuple[str, ...] = ()
    opened: bool = True

    @property
    def reached(self) -> bool:
        """Value 1, to 1e-9."""
        return is_solved(self.value)


class Verdict(Frozen):
    """What a scoring protocol makes of the calls and the parts.

    Attributes:
        score: in [0, 1]; 1 = solved.
        measures: further named numbers; a measure that is undefined here is left out, never 0.
    """

    score: float = Field(ge=0.0, le=1.0)
    measures: Mapping[str, float] = Field(default_factory=dict)


class Evaluation(Frozen):
    """The verdict of one evaluator version on one attempt.

    Attributes:
        score: in [0, 1]; None = the work was handed in, and people judge it.
        measures: named numbers, `score` among them where there is one.
        metrics: evidence per metric call, in the task's order; empty where a rule decided without grading.
        rule: the rule that decided without grading, or empty.
        parts: what became of the task's parts, in the task's order.
    """

    score: float | None = Field(ge=0.0, le=1.0)
    measures: Mapping[str, float]
    metrics: tuple[MetricEvidence, ...] = ()
    rule: str = ""
    parts: tuple[PartResult, ...] = ()
    version: str = EVALUATOR_VERSION

    @property
    def handed_in(self) -> bool:
        """The work waits for people, or has been seen by them; it is neither solved nor failed."""
        return self.score is None

    @property
    def solved(self) -> bool | None:
        """Score 1, to 1e-9; None without a score."""
        return None if self.score is None else is_solved(self.score)


def is_solved(score: float) -> bool:
    """True for score 1 (to 1e-9). Protocols reference, section 1."""
    return score >= 1.0 - SOLVED_TOLERANCE


def score_by_rule(spec: EvaluatorSpec, ended_by: EndedBy) -> Evaluation | None:
    """What FAIL and infeasibility decide without grading; None when the end state must be looked at.

    An infeasible task is right only if the agent said so; a feasible one that it gave up is 0. One with parts is looked
    at all the same: what was reached before is measured. So is one whose work people judge: what is there is handed in.
    Benchmark-formats reference, section 1.1.
    """
    said_fail = ended_by is EndedBy.INFEASIBLE
    if spec.infeasible:
        rule = "the task is infeasible and the agent " + ("said so" if said_fail else "did not say so")
        return Evaluation(score=float(said_fail), measures=_ruled(spec, float(said_fail)), rule=rule)
    if said_fail and not spec.parts and not spec.handed_in:
        return Evaluation(score=0.0, measures={"score": 0.0}, rule=GAVE_UP)
    return None


def _ruled(spec: EvaluatorSpec, score: float) -> dict[str, float]:
    """The measures of a score that a rule gave: those that its protocol has without looking at any part."""
    if not spec.protocol:
        return {"score": score}
    verdict: Verdict = registry.lookup(registry.PluginKind.PROTOCOL, spec.protocol)(spec, score, ())
    return {**verdict.measures, "score": score}


def join(conj: str, values: Sequence[float]) -> float:
    """One score from the metrics' values. `and`: any 0 gives 0, else the mean; `or`: any 1 gives 1, else the largest.

    Raises:
        EvaluatorFailed: there is nothing to join.
    """
    if not values:
        raise EvaluatorFailed("the evaluator has no metric", code="no_metric")
    if conj == "or":
        return max(values)
    return 0.0 if min(values) <= 0.0 else sum(values) / len(values)
