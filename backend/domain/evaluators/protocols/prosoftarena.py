"""ProSoftArena's scores. Source: protocols reference, section 8."""

from collections.abc import Sequence
from typing import ClassVar

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import SCORE, PartResult, Verdict, is_solved
from backend.domain.model.task import EvaluatorSpec, check_order
from backend.domain.registry import PluginKind, register


@register(PluginKind.PROTOCOL, "prosoftarena")
class ProSoftArenaScores:
    """With phases, the weighted mean of their values; else the score of the calls.

    A phase counts only if all phases before it (`after`) are reached; the task says whether its phases are chained or
    independent. Calls on the final state of a task with phases are a precondition: unless they hold, no phase counts.
    Each phase is a measure, `phase:NAME`.
    """

    primary: ClassVar[str] = SCORE

    def __call__(self, spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:
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
            counts = (score is None or score > 0.0) and all(is_solved(values[name]) for name in after[name])
            values[name] = results[name].value if counts else 0.0
        total = sum(part.weight * values[part.name] for part in parts)
        measures = {f"phase:{part.name}": values[part.name] for part in parts}
        return Verdict(score=min(1.0, total / whole), measures=measures)
