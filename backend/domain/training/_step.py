"""One step as a row."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.trajectory_export import RecordedStep, action_json
from backend.domain.ports.training import Column
from backend.domain.training._common import path

COLUMNS: Mapping[str, Column] = {
    "index": "integer",
    "final": "flag",
    "by": "text",
    "image": "text",
    "agent_view": "text",
    "width": "integer",
    "height": "integer",
    "explanation": "text",
    "reply": "text",
    "invalid": "text",
    "actions": "json",
    "reached": ["text"],
    "input_tokens": "integer",
    "output_tokens": "integer",
    "agent_seconds": "number",
    "model_calls": "json",
}


def row(step: RecordedStep) -> dict[str, Any]:
    """The values of COLUMNS."""
    return {
        "index": step.index,
        "final": step.final,
        "by": step.by,
        "image": path(step.frame),
        "agent_view": path(step.agent_view),
        "width": step.width or None,
        "height": step.height or None,
        "explanation": step.explanation,
        "reply": step.reply,
        "invalid": step.invalid,
        "actions": [action_json(action) for action in step.actions],
        "reached": list(step.reached),
        "input_tokens": step.usage.get("input_tokens", 0),
        "output_tokens": step.usage.get("output_tokens", 0),
        "agent_seconds": step.timing.get("agent"),
        "model_calls": [dict(call) for call in step.model_calls],
    }
