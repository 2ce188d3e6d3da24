"""Several checks judged by one metric: OmniBench's expressions and evaluation functions.

A fact is a check as JSON, `{"type": check, parameter: value}`. Getter and metric of a check have its name. The getter
`facts` collects several at once; this module stores their evidence in one row of blobs.
"""

import json
from collections.abc import Mapping, Sequence

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.evaluate import CallEvidence, check_gathered, gather
from backend.domain.model.score import Blob, is_solved
from backend.domain.model.task import JSON, Frozen, MetricCall, Task
from backend.domain.omnibench.expression import DIALECT, FACTS, MOST_CHECKS, as_call
from backend.domain.ports.task import Metric, SetupContext
from backend.domain.registry import PluginKind

Fact = Mapping[str, JSON]
INDEX = "facts"


class FactValue(Frozen):
    """The value that a check's getter read."""

    fact: Fact
    value: JSON = None

    def holds(self) -> bool:
        """The verdict of the check's metric. Raises EvaluatorFailed if there is none."""
        metric: Metric = registry.lookup(PluginKind.METRIC, str(self.fact["type"]), DIALECT)
        return is_solved(metric(self.value).value)


def pack(answers: Sequence[tuple[Fact, Sequence[Blob]]]) -> tuple[Blob, ...]:
    """Packs several facts into one row of blobs; the first blob maps the others to their facts."""
    index = [{"fact": dict(fact), "blobs": len(blobs)} for fact, blobs in answers]
    header = Blob(name=INDEX, data=json.dumps(index).encode(), media_type="application/json")
    return (header, *(blob for _, blobs in answers for blob in blobs))


def unpack(blobs: Sequence[Blob]) -> list[tuple[Fact, Sequence[Blob]]]:
    """The inverse of `pack`. Raises EvaluatorFailed for blobs that `pack` did not make."""
    try:
        index = json.loads(blobs[0].data or b"")
        answers: list[tuple[Fact, Sequence[Blob]]] = []
        position = 1
        for entry in index:
            answers.append((dict(entry["fact"]), blobs[position : position + int(entry["blobs"])]))
            position += int(entry["blobs"])
    except (ValueError, LookupError, TypeError) as error:
        raise EvaluatorFailed(f"the evidence of the checks is invalid: {error}", code="evidence_damaged") from error
    if position != len(blobs):
        raise EvaluatorFailed("the evidence of the checks is incomplete", code="evidence_damaged")
    return answers


def with_facts(call: MetricCall, facts: Sequence[Fact]) -> MetricCall:
    """The call with these facts added; a call that does not use facts is returned unchanged."""
    if call.result is None or call.result.get("type") != FACTS:
        return call
    own = list(call.result.get("facts", ()))
    return call.model_copy(update={"result": {**call.result, "facts": [*own, *(f for f in facts if f not in own)]}})


def gather_more(
    context: SetupContext, task: Task, call: MetricCall, gathered: CallEvidence, facts: Sequence[Fact]
) -> CallEvidence:
    """A call's evidence extended by these facts; existing evidence is unchanged.

    Raises:
        EvaluatorFailed: there are too many facts, or one cannot be collected.
    """
    if call.result is None or call.result.get("type") != FACTS or gathered.result is None:
        return gathered
    unpacked = unpack(gathered.result)
    new = [fact for fact in facts if all(fact != other for other, _ in unpacked)]
    if len(unpacked) + len(new) > MOST_CHECKS:
        raise EvaluatorFailed(
            f"the evaluation function needs more than {MOST_CHECKS} different checks", code="too_many_checks"
        )
    answers = [(fact, _answer(context, task, fact)) for fact in new]
    return gathered.model_copy(update={"result": pack([*unpacked, *answers])})


def _answer(context: SetupContext, task: Task, fact: Fact) -> tuple[Blob, ...]:
    gathered = gather(context, task, as_call(fact))
    check_gathered([gathered])
    return gathered.result or ()
