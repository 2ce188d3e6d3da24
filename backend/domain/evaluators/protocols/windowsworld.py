"""WindowsWorld's scores. Source: protocols reference, section 7."""

from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.registry import Kind, register
from backend.domain.score import PartResult, Verdict, is_solved
from backend.domain.task import EvaluatorSpec


@register(Kind.PROTOCOL, "windowsworld")
def windowsworld(spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:  # noqa: ARG001 - the port's signature
    """S_int = checkpoints reached / checkpoints listed; S_final = 1 if the end state is right, else 0.

    Listed, not answered: a judge that says nothing of a checkpoint does not raise S_int. A task without checkpoints has
    no S_int. The score is S_final.
    """
    if score is None:
        raise EvaluatorFailed("a task of WindowsWorld needs a check of its final state")
    final = float(is_solved(score))
    measures = {"S_final": final}
    if parts:
        measures["S_int"] = sum(part.reached for part in parts) / len(parts)
    return Verdict(score=final, measures=measures)
