"""`is_utc_0`: whether the desktop's time zone is at UTC."""

from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_utc_0")
def is_utc_0(result: str | None) -> MetricValue:
    """1 if the line `Time zone:` of the output of `timedatectl status` ends with `+0000)`."""
    lines = [line.strip() for line in (result or "").splitlines()]
    zones = [line for line in lines if line.startswith("Time zone:")]
    if not zones:
        return verdict(met=False, reason=f"no time zone in the output: {short(result)}")
    return verdict(met=zones[0].endswith("+0000)"), reason=f"found {short(zones[0])}, expected an offset of +0000")
