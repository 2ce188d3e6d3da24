"""`check_gnome_favorite_apps`: whether GNOME's dock has exactly these programs."""

import re

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

MAX_TEXT = 100_000
_TEXT = r"'(?:[^'\\]|\\.)*'|\"(?:[^\"\\]|\\.)*\""
_LIST = re.compile(rf"\s*(?:@as\s*)?\[\s*(?:(?:{_TEXT})(?:\s*,\s*(?:{_TEXT}))*)?\s*\]\s*")
_ITEM = re.compile(_TEXT)


@register(PluginKind.METRIC, "check_gnome_favorite_apps")
def check_gnome_favorite_apps(result: str | None, rules: object) -> MetricValue:
    """1 if the list has the programs of `rules["expected"]` and no others, in any order.

    Args:
        result: what `gsettings get org.gnome.shell favorite-apps` prints, a list in GVariant's text form. It comes from
            the desktop and is parsed, never evaluated.
        rules: `{expected: [names of .desktop files]}`.
    """
    expected = texts(rule(rules, "expected"), "`expected`")
    if rule(rules, "expected") is None:
        raise EvaluatorFailed("`expected` names no programs", code="invalid_rule", hint=HINT)
    if result is None or len(result) > MAX_TEXT or not _LIST.fullmatch(result):
        return verdict(met=False, reason=f"the favourites are not a list of names: {short(result)}")
    favourites = [re.sub(r"\\(.)", r"\1", item[1:-1]) for item in _ITEM.findall(result)]
    fine = len(favourites) == len(expected) and set(favourites) == set(expected)
    return verdict(met=fine, reason=f"the favourites are {short(favourites)}, expected {short(expected)}")
