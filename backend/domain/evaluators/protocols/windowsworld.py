"""WindowsWorld's scores. Source: protocols reference, section 7."""

from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import PartResult, Verdict, is_solved
from backend.domain.model.task import EvaluatorSpec, PartKind
from backend.domain.registry import PluginKind, register


@register(PluginKind.PROTOCOL, "windowsworld")
def windowsworld(spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:  # noqa: ARG001 - the port's signature
    """S_int = checkpoints reached / checkpoints listed; S_final = 1 if the end state is right, else 0.

    The denominator is listed checkpoints: one without a judgement does not raise S_int. A task without checkpoints has
    no S_int. The score is S_final.

    Our addition: if the author's assertions can be executed, the end state is right if the judge says so *and* every
    binding assertion (weight above 0: it concerns files) holds, because a judge sees pictures, not files. Then S_judge
    is the judge's verdict alone, as in the paper, and S_assert the share of assertions that hold, including non-binding
    ones. A task that is judged by assertions alone has no S_final.
    """
    checkpoints = [part for part in parts if part.kind is not PartKind.ASSERTION]
    assertions = [part for part in parts if part.kind is PartKind.ASSERTION]
    binding = [part for part in assertions if part.weight > 0]
    if score is None and not binding:
        raise EvaluatorFailed("a task of WindowsWorld needs a check of its final state", code="invalid_evaluator")
    final = float((score is None or is_solved(score)) and all(part.reached for part in binding))
    measures = {}
    if score is not None:
        measures["S_final"] = final
    if checkpoints:
        measures["S_int"] = _share(checkpoints)
    if assertions:
        measures["S_assert"] = _share(assertions)
        measures |= {} if score is None else {"S_judge": float(is_solved(score))}
    return Verdict(score=final, measures=measures)


def _share(parts: Sequence[PartResult]) -> float:
    return sum(part.reached for part in parts) / len(parts)
