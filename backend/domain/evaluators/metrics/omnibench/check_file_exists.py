"""`check_file_exists`: there is a file or folder of that path."""

from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_file_exists", dialect=DIALECT)
def check_file_exists(result: bool) -> MetricValue:  # noqa: FBT001 - a metric gets what its getter read
    """1 if it is there."""
    return MetricValue(value=float(result), reasons=("it is there" if result else "it is not there",))
