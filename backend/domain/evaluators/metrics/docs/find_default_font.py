"""`find_default_font`: LibreOffice Writer's default font."""

from collections.abc import Mapping
from pathlib import Path
from typing import Any
from xml.etree.ElementTree import Element, ParseError

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_BYTES = 16 * 2**20
_OOR = "{http://openoffice.org/2001/registry}"
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
    root, reason = _settings(result)
    if root is None:
        return verdict(met=False, reason=reason)
    fonts = [
        value.text
        for item in root.iter("item")
        if item.get(f"{_OOR}path") == _PLACE
        for prop in item.iter("prop")
        if prop.get(f"{_OOR}name") == "Standard"
        for value in prop.findall("value")
    ]
    font = fonts[-1] if fonts else None
    return verdict(font == rules["font_name"], f"the default font is {short(font)}, expected {rules['font_name']!r}")


def _settings(path: str | None) -> tuple[Element | None, str]:
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import parse

    if path is None or not Path(path).is_file():
        return None, "the file does not exist"
    if Path(path).stat().st_size > MAX_BYTES:
        return None, f"the file is larger than {MAX_BYTES // 2**20} MiB"
    try:
        return parse(path).getroot(), ""
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        return None, f"the settings cannot be read: {type(error).__name__}"
