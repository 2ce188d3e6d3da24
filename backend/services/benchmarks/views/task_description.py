"""A task's set-up and evaluator as text."""

from collections.abc import Mapping
from typing import Any

from backend.services.read_model import short, value_text


def parameter_text(value: Any) -> str:
    """A parameter as short text."""
    if isinstance(value, str):
        return short(value)
    if isinstance(value, (list, tuple)) and all(isinstance(item, str) for item in value):
        return short(" ".join(value))
    if isinstance(value, Mapping):
        return short(
            ", ".join(f"{key} {parameter_text(item)}" for key, item in value.items() if item not in (None, "", [], {}))
        )
    if isinstance(value, (list, tuple)):
        return short("; ".join(parameter_text(item) for item in value))
    return value_text(value)


def step_words(step: Mapping[str, Any]) -> str:
    """One set-up step: type and parameters."""
    parameters = parameter_text(step.get("parameters") or {})
    name = str(step.get("type", "")).replace("_", " ")
    return f"{name}: {parameters}" if parameters else name


def setup_words(spec: Mapping[str, Any]) -> list[str]:
    """The steps that prepare the desktop, in order."""
    return [step_words(step) for step in spec.get("setup") or ()]


def source_words(source: Mapping[str, Any] | None) -> str:
    """Source of a metric's value."""
    if not source:
        return ""
    parameters = {key: value for key, value in source.items() if key != "type"}
    name = str(source.get("type", "")).replace("_", " ")
    return f"{name} ({parameter_text(parameters)})" if parameters else name


def evaluator_words(spec: Mapping[str, Any]) -> dict[str, Any]:
    """How the final state is scored: postconfig steps, the conjunction, one line per metric, and the parts."""
    evaluator = spec.get("evaluator") or {}
    calls = evaluator.get("calls") or ()
    joined = {
        "and": "All checks must pass; the score is their mean, or 0 if one is 0.",
        "or": "One check must pass; the score is the largest.",
    }
    return {
        "postconfig": [step_words(step) for step in evaluator.get("postconfig") or ()],
        "rule": joined.get(str(evaluator.get("conj", "and")), "") if len(calls) > 1 else "",
        "calls": [_call_words(call) for call in calls],
        "protocol": evaluator.get("protocol", ""),
        "parts": [
            {
                "name": part.get("name", ""),
                "kind": part.get("kind", ""),
                "text": part.get("text", ""),
                "app": part.get("app", ""),
                "weight": part.get("weight", 1.0),
                "after": ", ".join(part.get("after") or ()),
                "when": "after each step" if part.get("each_step") else "at the end",
                "calls": [_call_words(call) for call in part.get("calls") or ()],
            }
            for part in evaluator.get("parts") or ()
        ],
    }


def _call_words(call: Mapping[str, Any]) -> dict[str, Any]:
    return {
        "func": call.get("func", ""),
        "result": source_words(call.get("result")),
        "expected": source_words(call.get("expected")),
        "options": parameter_text(call.get("options") or {}),
    }
