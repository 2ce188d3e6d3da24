"""`check_file_exists`: a file or folder exists."""

from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_file_exists", dialect=DIALECT)
def check_file_exists(result: bool) -> MetricValue:  # noqa: FBT001 - a metric gets what its getter read
    """1 if it exists."""
    return MetricValue(value=float(result), reasons=("it exists" if result else "it does not exist",))
