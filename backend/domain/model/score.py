"""Result of an evaluation: verdict, measures, reasons; and the rules that combine metrics into one score."""

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
SCORE = "score"
"""The measure that is the score itself."""


class MetricValue(Frozen):
    """Result of one metric.

    Attributes:
        value: in [0, 1].
        reasons: the reasons.
        step: index of the step by which it was met, if known (a judge of the trajectory knows).
        progress: share of its conditions that were met; not part of any score.
    """

    value: float = Field(ge=0.0, le=1.0)
    reasons: tuple[str, ...] = ()
    step: int | None = Field(default=None, ge=0)
    progress: float | None = Field(default=None, ge=0.0, le=1.0)


class Blob(Frozen):
    """Raw bytes that a getter collected; `data` None = absent, which is itself evidence.

    Attributes:
        name: its name, for example the guest path.
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
    """Result of one part of a task.

    Attributes:
        name, kind, text, app, weight: as in the task.
        value: in [0, 1]; 1 = reached.
        step: index of the step after which it was first reached; None if it was not, or the step is unknown.
        progress: share of its conditions that were met; not part of any measure.
        opened: False if a part before it was not reached, so that it was never evaluated.
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
    """Result of a scoring protocol.

    Attributes:
        score: in [0, 1]; 1 = solved.
        measures: further named numbers; an undefined measure is left out, never 0.
    """

    score: float = Field(ge=0.0, le=1.0)
    measures: Mapping[str, float] = Field(default_factory=dict)


class Evaluation(Frozen):
    """The verdict of one evaluator version on one attempt.

    Attributes:
        score: in [0, 1]; None = a submission that people judge.
        measures: named numbers, `score` among them where there is one.
        metrics: evidence per metric call, in the task's order; empty if a rule decided without grading.
        rule: the rule that decided without grading, or empty.
        parts: results of the task's parts, in the task's order.
    """

    score: float | None = Field(ge=0.0, le=1.0)
    measures: Mapping[str, float]
    metrics: tuple[MetricEvidence, ...] = ()
    rule: str = ""
    parts: tuple[PartResult, ...] = ()
    version: str = EVALUATOR_VERSION

    @property
    def handed_in(self) -> bool:
        """Whether people judge it, so that it is neither solved nor failed."""
        return self.score is None

    @property
    def solved(self) -> bool | None:
        """Score 1, to 1e-9; None without a score."""
        return None if self.score is None else is_solved(self.score)


def is_solved(score: float) -> bool:
    """True for score 1 (to 1e-9). Protocols reference, section 1."""
    return score >= 1.0 - SOLVED_TOLERANCE


def score_by_rule(spec: EvaluatorSpec, ended_by: EndedBy) -> Evaluation | None:
    """The score if FAIL or infeasibility decides without grading; None if the end state must be evaluated.

    An infeasible task is solved only by answering FAIL; giving up a feasible one scores 0. A task with parts is
    evaluated anyway, to measure its progress, and so is a task that people judge, to submit its files.
    Benchmark-formats reference, section 1.1.
    """
    said_fail = ended_by is EndedBy.INFEASIBLE
    if spec.infeasible:
        rule = "the task is infeasible and the agent " + ("said so" if said_fail else "did not say so")
        return Evaluation(score=float(said_fail), measures=_rule_measures(spec, float(said_fail)), rule=rule)
    if said_fail and not spec.parts and not spec.handed_in:
        return Evaluation(score=0.0, measures={"score": 0.0}, rule=GAVE_UP)
    return None


def _rule_measures(spec: EvaluatorSpec, score: float) -> dict[str, float]:
    """The measures of a score by a rule: those that need no evaluated part."""
    if not spec.protocol:
        return {"score": score}
    verdict: Verdict = registry.lookup(registry.PluginKind.PROTOCOL, spec.protocol)()(spec, score, ())
    return {**verdict.measures, "score": score}


def join(conj: str, values: Sequence[float]) -> float:
    """Combines the metrics' values. `and`: any 0 gives 0, else the mean; `or`: any 1 gives 1, else the maximum.

    Raises:
        EvaluatorFailed: there are no values.
    """
    if not values:
        raise EvaluatorFailed("the evaluator has no metric", code="no_metric")
    if conj == "or":
        return max(values)
    return 0.0 if min(values) <= 0.0 else sum(values) / len(values)
