"""`check_libre_locale`: whether LibreOffice is set to one of these languages."""

import fnmatch

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._libreoffice_settings import read_settings, values
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

SETTINGS = ("ooSetupSystemLocale", "ooLocale")
"""The language of dates and numbers; if none is set, that of the user interface."""


@register(PluginKind.METRIC, "check_libre_locale")
def check_libre_locale(result: str | None, rules: object) -> MetricValue:
    """1 if the language in `registrymodifications.xcu` matches a pattern in `rules["locale_set"]` (`en-*`)."""
    patterns = texts(rule(rules, "locale_set"), "`locale_set`")
    if not patterns:
        raise EvaluatorFailed("`locale_set` names no language", code="invalid_rule", hint=HINT)
    root, reason = read_settings(result)
    if root is None:
        return verdict(met=False, reason=reason)
    locale = next((value for name in SETTINGS for value in values(root, "L10N", name)[:1] if value), None)
    if locale is None:
        return verdict(met=False, reason="no language is set")
    fine = any(fnmatch.fnmatchcase(locale, pattern) for pattern in patterns)
    return verdict(met=fine, reason=f"the language is {short(locale)}, expected one of {short(patterns)}")
