"""ProSoftArena's scores. Source: protocols reference, section 8."""

from collections.abc import Sequence

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import PartResult, Verdict, is_solved
from backend.domain.model.task import EvaluatorSpec, check_order
from backend.domain.registry import PluginKind, register


@register(PluginKind.PROTOCOL, "prosoftarena")
def prosoftarena(spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:
    """A task of phases has the sum of weight x value over them, by the weights' sum; any other has its calls' score.

    Phases come in order: one counts only as far as all before it (`after`) are reached. Calls on the final state, where
    a task of phases has some, are a condition: without them no phase counts. Each phase is a measure, `phase:NAME`.
    """
    if not parts:
        if score is None:
            raise EvaluatorFailed(
                "the task has neither phases nor a check of its final state", code="invalid_evaluator"
            )
        return Verdict(score=score)
    whole = sum(part.weight for part in parts)
    if whole <= 0.0:
        raise EvaluatorFailed("the weights of the task's phases are all 0", code="invalid_evaluator")
    after = {part.name: part.after for part in spec.parts}
    results = {part.name: part for part in parts}
    values: dict[str, float] = {}
    for name in check_order(after):
        counts = (score is None or score > 0.0) and all(is_solved(values[one]) for one in after[name])
        values[name] = results[name].value if counts else 0.0
    total = sum(part.weight * values[part.name] for part in parts)
    measures = {f"phase:{part.name}": values[part.name] for part in parts}
    return Verdict(score=min(1.0, total / whole), measures=measures)
