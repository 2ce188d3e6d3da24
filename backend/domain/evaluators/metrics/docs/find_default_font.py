"""`find_default_font`: LibreOffice Writer's default font."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._libreoffice_settings import read_settings, values
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_PLACE = "/org.openoffice.Office.Writer/DefaultFont"


@register(PluginKind.METRIC, "find_default_font")
def find_default_font(result: str | None, rules: Mapping[str, Any]) -> MetricValue:
    """Reads the font from LibreOffice's settings file.

    Args:
        result: path of `registrymodifications.xcu`.
        rules: `font_name`: the font's name.
    """
    if not isinstance(rules.get("font_name"), str):
        raise EvaluatorFailed("`rules.font_name` is missing", code="invalid_rule")
    root, reason = read_settings(result)
    if root is None:
        return verdict(met=False, reason=reason)
    font = next(reversed(values(root, _PLACE, "Standard")), None)
    return verdict(font == rules["font_name"], f"the default font is {short(font)}, expected {rules['font_name']!r}")
