"""Shared parts of the conversation formats."""

from collections.abc import Iterator
from datetime import datetime
from typing import Any

from backend.domain.model.run_export import ExportedEpisode
from backend.domain.model.trajectory_export import RecordedStep, action_json


def tool_calls(step: RecordedStep) -> Iterator[tuple[str, str, dict[str, Any]]]:
    """(id, function, arguments) of each action of a step."""
    for number, action in enumerate(step.actions, 1):
        fields = action_json(action)
        yield f"step_{step.index + 1}_{number}", fields.pop("type"), fields


def words(step: RecordedStep) -> str:
    """The agent's text: its reply, else its explanation; with the reason if the reply was not an action."""
    return "\n".join(text for text in (step.reply or step.explanation, step.invalid) if text)


def tokens(step: RecordedStep) -> tuple[int, int]:
    """Input and output tokens of a step."""
    return int(step.usage.get("input_tokens") or 0), int(step.usage.get("output_tokens") or 0)


def after(episode: ExportedEpisode, number: int) -> RecordedStep | None:
    """The step whose screen shows what the step at this position did."""
    return episode.steps[number + 1] if number + 1 < len(episode.steps) else None


def moment(at: datetime | None) -> str | None:
    """A time in ISO 8601."""
    return at.isoformat() if at else None
