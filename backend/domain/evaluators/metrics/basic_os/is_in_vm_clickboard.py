"""`is_in_vm_clickboard`: whether the clipboard contains texts."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics._rules import HINT, rule, texts
from backend.domain.evaluators.metrics._verdicts import short, verdict
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "is_in_vm_clickboard")
def is_in_vm_clickboard(rules: object, clipboard: object) -> MetricValue:
    """1 if the clipboard's text contains every text of `rules["expected"]`.

    Tasks pass the arguments in this order: the expectation as `result`, the desktop's output as `expected`.

    Args:
        rules: `{expected: text or list of texts}`.
        clipboard: the clipboard's text.
    """
    expected = rule(rules, "expected")
    expected_texts = [expected] if isinstance(expected, str) else texts(expected, "`expected`")
    if not expected_texts or not all(expected_texts):
        raise EvaluatorFailed("`expected` names no text to look for", code="invalid_rule", hint=HINT)
    if not isinstance(clipboard, str):
        return verdict(met=False, reason="the clipboard could not be read: its command is gone")
    missing = [text for text in expected_texts if text not in clipboard]
    if missing:
        return verdict(met=False, reason=f"the clipboard has {short(clipboard)}, without {short(missing)}")
    return verdict(met=True, reason=f"the clipboard has {short(expected_texts)}")
