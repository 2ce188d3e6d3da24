"""`check_libre_locale`: whether LibreOffice is set to one of these languages."""

import fnmatch
from pathlib import Path
from xml.etree.ElementTree import Element, ParseError

from defusedxml import DefusedXmlException
from defusedxml.ElementTree import parse

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_BYTES = 16 * 2**20
_OOR = "{http://openoffice.org/2001/registry}"
SETTINGS = ("ooSetupSystemLocale", "ooLocale")
"""The language of dates and numbers; if none is set, that of the user interface."""


@register(PluginKind.METRIC, "check_libre_locale")
def check_libre_locale(result: str | None, rules: object) -> MetricValue:
    """1 if the language in `registrymodifications.xcu` matches a pattern in `rules["locale_set"]` (`en-*`)."""
    patterns = texts(rule(rules, "locale_set"), "`locale_set`")
    if not patterns:
        raise EvaluatorFailed("`locale_set` names no language", code="invalid_rule", hint=HINT)
    if result is None or not Path(result).is_file():
        return verdict(met=False, reason="the settings file does not exist")
    if Path(result).stat().st_size > MAX_BYTES:
        return verdict(met=False, reason=f"the settings file is larger than {MAX_BYTES // 2**20} MiB")
    try:
        root = parse(result).getroot()
    except (ParseError, DefusedXmlException, ValueError, LookupError) as error:
        return verdict(met=False, reason=f"the settings file is damaged: {short(str(error))}")
    locale = None if root is None else next((value for name in SETTINGS if (value := _setting(root, name))), None)
    if locale is None:
        return verdict(met=False, reason="no language is set")
    fine = any(fnmatch.fnmatchcase(locale, pattern) for pattern in patterns)
    return verdict(met=fine, reason=f"the language is {short(locale)}, expected one of {short(patterns)}")


def _setting(root: Element, name: str) -> str | None:
    for item in root.iter("item"):
        if item.get(f"{_OOR}path", "").endswith("L10N"):
            for prop in item.findall("prop"):
                if prop.get(f"{_OOR}name") == name and (value := prop.find("value")) is not None:
                    return value.text
    return None
