"""`check_json`: values of a JSON or YAML file satisfy rules."""

from collections.abc import Mapping
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, mappings, rule
from backend.domain.evaluators.metrics._value_rules import fits
from backend.domain.evaluators.metrics._verdicts import share_of_goals, short, verdict
from backend.domain.formats.jsons import read_json, read_yaml
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register

_WORDS_OF_TRUTH = {"on": True, "yes": True, "off": False, "no": False}


@register(PluginKind.METRIC, "check_json")
def check_json(
    result: str | None, rules: Mapping[str, Any], *, is_yaml: bool = False, strict_upstream: bool = False
) -> MetricValue:
    """1 if every rule of `expect` holds and none of `unexpect` does.

    Args:
        result: path of the file.
        rules: `expect` and `unexpect`, lists of `{key: [names and positions], method, ref}`.
        is_yaml: YAML instead of JSON.
        strict_upstream: as published, a value that `unexpect` cannot compare, such as a missing one, gives 0; `true`
            equals 1; a position in a text is its letter; a date of YAML equals no text, `12:30` is a number, and
            the key `on` is true.
    """
    expect, unexpect = mappings(rules.get("expect"), "`expect`"), mappings(rules.get("unexpect"), "`unexpect`")
    if not expect and not unexpect:
        raise EvaluatorFailed("the rules are empty", code="invalid_rule", hint=HINT)
    data, reason = read_yaml(result, published=strict_upstream) if is_yaml else read_json(result)
    if reason or data is None:
        return verdict(met=False, reason=reason or "the file has no value")
    goals = []
    for expectation in expect:
        value, exists = _value(data, rule(expectation, "key"), strict=strict_upstream)
        goals.append(
            (fits(value, expectation, strict=strict_upstream) and exists, _words(expectation, value, exists=exists))
        )
    for expectation in unexpect:
        value, exists = _value(data, rule(expectation, "key"), strict=strict_upstream)
        broken = fits(value, expectation, otherwise=strict_upstream, strict=strict_upstream)
        goals.append((not broken, f"unexpected: {_words(expectation, value, exists=exists)}"))
    return share_of_goals(goals, partial=False)


def _value(data: Any, keys: Any, *, strict: bool) -> tuple[Any, bool]:
    if not isinstance(keys, list | tuple):
        raise EvaluatorFailed(f"`key` is {short(keys)}, expected a list of names", code="invalid_rule", hint=HINT)
    for key in keys:
        if not strict and (isinstance(data, str) or isinstance(key, bool)):
            return None, False
        try:
            data = data[key if strict else _entry(data, key)]
        except (KeyError, IndexError, TypeError):
            return None, False
    return data, True


def _entry(data: Any, key: Any) -> Any:
    """The key by which an entry is found: YAML 1.1 reads the word `on` as true."""
    is_word = isinstance(data, dict) and isinstance(key, str) and key not in data
    return _WORDS_OF_TRUTH.get(key, key) if is_word else key


def _words(condition: Mapping[str, Any], actual: Any, *, exists: bool) -> str:
    value = short(actual) if exists else "missing"
    return f"{short(condition['key'])} is {value}, rule {condition['method']} {short(condition['ref'])}"
