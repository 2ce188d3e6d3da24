"""OmniBench's scores. Source: OmniBench, section 4.1; protocols reference, section 6."""

from collections.abc import Mapping, Sequence
from typing import ClassVar

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.score import PartResult, Verdict, is_solved
from backend.domain.model.task import EvaluatorSpec, check_order
from backend.domain.registry import PluginKind, register
from backend.domain.statistics.coherence import consistency
from backend.domain.statistics.graphs import Before, completion
from backend.domain.statistics.released_omnibench import released_coherence, released_completion


@register(PluginKind.PROTOCOL, "omnibench")
class OmniBenchScores:
    """The score is 1 if every node was reached (and the check of the final state, if there is one, holds), else 0.

    CR = sum of depth over reached nodes / sum over all. LC = CS_agent / CS_max, where CS is the number of adjacent
    pairs of the same application in an order of nodes: the agent's, and the best that the graph allows. LC is left out
    where CS_max is 0 or too costly to find. The `progress` of a node that was not reached enters neither.

    With `strict_upstream` CR and LC are those of the released code (`backend.domain.statistics.released_omnibench`).
    """

    primary: ClassVar[str] = "CR"

    def __call__(self, spec: EvaluatorSpec, score: float | None, parts: Sequence[PartResult]) -> Verdict:
        if not parts:
            raise EvaluatorFailed("a task of OmniBench needs a graph of nodes", code="invalid_evaluator")
        before = {part.name: part.after for part in spec.parts}
        steps = {part.name: part.step for part in parts if part.reached and part.step is not None}
        reached = [part.name for part in parts if part.reached]
        if len(steps) < len(reached):
            raise EvaluatorFailed(
                "the step of a reached node is unknown: nodes must be evaluated after each step",
                code="checkpoint_steps_unknown",
            )
        measures = _measures(before, {part.name: part.app for part in parts}, steps, released=spec.strict_upstream)
        solved = len(reached) == len(parts) and (score is None or is_solved(score))
        return Verdict(score=float(solved), measures=measures)


def _measures(before: Before, apps: Mapping[str, str], steps: Mapping[str, int], *, released: bool) -> dict[str, float]:
    if released:
        order = [node for node in check_order(before) if node in steps]
        order.sort(key=lambda node: steps[node])  # Stable: nodes of one step stay in the graph's order.
        return {"CR": released_completion(before, steps), "LC": released_coherence(before, apps, order)}
    coherence = consistency(before, apps, steps)
    return {"CR": completion(before, list(steps))} | ({} if coherence is None else {"LC": coherence})
