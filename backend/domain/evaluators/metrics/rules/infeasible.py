"""`infeasible`: marks an infeasible task."""

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "infeasible")
def infeasible(*_: object, **__: object) -> MetricValue:
    """Never called on a state: how the agent ended decides before any metric runs (`score_by_rule`)."""
    return verdict(met=False, reason="the task is infeasible: only FAIL is correct")
