"""`handed_in`: marks a task whose result people judge. Source: ProSoftArena, L4 (docs/benchmarks/prosoftarena.md)."""

from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "handed_in")
def handed_in(result: str | None) -> MetricValue:
    """1 if the file exists, else 0. It does not affect the score, which people decide."""
    exists = result is not None
    return verdict(exists, "the file exists" if exists else "there is no such file")
