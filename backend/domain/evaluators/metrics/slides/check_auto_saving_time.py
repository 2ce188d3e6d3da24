"""`check_auto_saving_time`: LibreOffice saves automatically at an interval in minutes."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._libreoffice_settings import is_off, read_setting
from backend.domain.evaluators.metrics._rules import rule
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PLACE = "/org.openoffice.Office.Common/Save/Document"


@register(PluginKind.METRIC, "check_auto_saving_time")
def check_auto_saving_time(
    result: str | None, rules: Mapping[str, Any], *, strict_upstream: bool = False
) -> MetricValue:
    """1 if the interval is as expected and automatic saving is on.

    Args:
        result: path of `registrymodifications.xcu`.
        rules: `minutes`, an integer.
        strict_upstream: check the interval only.

    Raises:
        EvaluatorFailed: the rules have no integer `minutes`.
    """
    minutes = rule(rules, "minutes")
    if not isinstance(minutes, int) or isinstance(minutes, bool):
        raise EvaluatorFailed(f"minutes is {short(minutes)}, expected an integer", code="invalid_rule")
    value, reason = read_setting(result, _PLACE, "AutoSaveTimeIntervall")
    if value is None:
        return verdict(met=False, reason=reason)
    if (value.lstrip("0") or "0") != str(minutes):
        return verdict(met=False, reason=f"the interval is {short(value)} minutes, expected {minutes}")
    switch, _ = read_setting(result, _PLACE, "AutoSave")
    if switch is not None and is_off(switch) and not strict_upstream:
        return verdict(met=False, reason="the interval is right, but saving is switched off")
    return verdict(met=True, reason=f"saves every {minutes} minutes")
