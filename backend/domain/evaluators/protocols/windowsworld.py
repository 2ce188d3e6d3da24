"""WindowsWorld's scores. Source: protocols reference, section 7."""

from collections.abc import Sequence
from typing import ClassVar

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import PartResult, Verdict, is_solved
from backend.domain.model.task import EvaluatorSpec, PartKind
from backend.domain.registry import PluginKind, register


@register(PluginKind.PROTOCOL, "windowsworld")
class WindowsWorldScores:
    """S_int = checkpoints reached / checkpoints listed; S_final = 1 if the end state is right, else 0.

    As in the paper, the end state is right if the check of the final state says so: the judge, or FAIL at level L4.
    The score is S_final. The denominator of S_int is listed checkpoints: one without a judgement does not raise it. A
    task without checkpoints has no S_int.

    The author's assertions are our addition and enter neither: S_assert is the share of those that hold, S_agree is 1
    if the judge's verdict and the binding assertions (weight above 0: they concern files) say the same. Only where
    nothing else decides (the variant `judge=none`) the score is 1 if the binding assertions hold; then there is no
    S_final.
    """

    primary: ClassVar[str] = "S_final"

    def __call__(self, spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:  # noqa: ARG002 - the port's signature
        checkpoints = [part for part in parts if part.kind is not PartKind.ASSERTION]
        assertions = [part for part in parts if part.kind is PartKind.ASSERTION]
        binding = [part for part in assertions if part.weight > 0]
        if score is None and not binding:
            raise EvaluatorFailed("a task of WindowsWorld needs a check of its final state", code="invalid_evaluator")
        assertions_hold = all(part.reached for part in binding)
        final = assertions_hold if score is None else is_solved(score)
        measures = {}
        if score is not None:
            measures["S_final"] = float(final)
        if checkpoints:
            measures["S_int"] = _share(checkpoints)
        if assertions:
            measures["S_assert"] = _share(assertions)
        if binding and score is not None:
            measures["S_agree"] = float(assertions_hold == final)
        return Verdict(score=float(final), measures=measures)


def _share(parts: Sequence[PartResult]) -> float:
    return sum(part.reached for part in parts) / len(parts)
