"""`check_expression`: several checks, joined by `and`, `or` and `not`."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.facts import FactValue
from backend.domain.model.score import MetricValue
from backend.domain.omnibench.expression import DIALECT
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_expression", dialect=DIALECT)
def check_expression(result: Sequence[FactValue], *, tree: Mapping[str, Any]) -> MetricValue:
    """1 if the expression is true, else 0.

    `progress` is the share of met conditions: the mean over the operands of `and`, the maximum over those of `or`; a
    negated check counts if it does not hold.
    """
    facts = [value.holds() for value in result]
    progress = _progress(tree, facts, expected=True)
    words = [
        f"{_fact_text(value)} {'holds' if holds else 'does not hold'}"
        for value, holds in zip(result, facts, strict=True)
    ]
    return MetricValue(value=float(progress >= 1.0), reasons=tuple(words), progress=progress)


def _progress(tree: Mapping[str, Any], facts: Sequence[bool], *, expected: bool) -> float:
    """Share of met conditions of a subtree; exactly 1 if it is true."""
    try:
        ((word, inner),) = tree.items()
        if word == "fact":
            return float(facts[inner] is expected)
        if word == "not":
            return _progress(inner, facts, expected=not expected)
        shares = [_progress(operand, facts, expected=expected) for operand in inner]
        if word not in {"and", "or"} or not shares:
            raise EvaluatorFailed(f"expressions do not support {word!r}", code="invalid_rule")
        return sum(shares) / len(shares) if (word == "and") is expected else max(shares)
    except (ValueError, LookupError, TypeError, AttributeError) as error:
        raise EvaluatorFailed(f"the expression is invalid: {error}", code="invalid_rule") from error


def _fact_text(value: FactValue) -> str:
    arguments = ", ".join(repr(part) for key, part in value.fact.items() if key != "type")
    return f"{value.fact['type']}({arguments})"
