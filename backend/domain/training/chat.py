"""`chat`: one conversation per trajectory: system, user with the picture, assistant with words and actions."""

import json
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.domain.model.trajectory import ActionType
from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef, RecordedStep, action_json
from backend.domain.ports.training import Column
from backend.domain.registry import PluginKind, register
from backend.domain.training._common import HEAD, head

SYSTEM = f"""You operate a computer through its screen, mouse and keyboard. Each message shows the screen.
Answer with what you think, then with your actions, one JSON object per line. Its type is one of
{", ".join(kind.value for kind in ActionType)}; x and y are pixels of the screen, from the top left.
DONE ends the task, FAIL says that it cannot be done."""


@register(PluginKind.TRAINING, "chat")
class Chat:
    """All agents speak alike here: what they thought, then their actions in one notation, in pixels of the picture."""

    about = "One conversation per trajectory: system, user with pictures, assistant with words and actions."
    columns: Mapping[str, Column] = {
        **HEAD,
        "messages": [{"role": "text", "content": [{"type": "text", "text": "text", "image": "text"}]}],
    }

    def refuses(self, recorded: ExportedAttempt) -> str:
        """One in which nothing was done before a picture teaches nothing."""
        return "" if _turns(recorded) else "no step with a picture and an action"

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        """See the port. Steps without an action are skipped."""
        messages = [{"role": "system", "content": [_text(SYSTEM)]}]
        for number, (step, picture) in enumerate(_turns(recorded)):
            instruction = [] if number else [_text(recorded.task.instruction)]
            messages.append({"role": "user", "content": [*instruction, {"type": "image", "image": picture.path}]})
            messages.append({"role": "assistant", "content": [_text(_reply_text(step))]})
        yield {**head(recorded), "messages": messages}

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        return (picture for _, picture in _turns(recorded))


def _turns(recorded: ExportedAttempt) -> list[tuple[RecordedStep, PictureRef]]:
    return [(step, step.frame) for step in recorded.acted if step.actions and step.frame]


def _text(text: str) -> dict[str, str]:
    return {"type": "text", "text": text}


def _reply_text(step: RecordedStep) -> str:
    actions = (json.dumps(action_json(action), ensure_ascii=False) for action in step.actions)
    return "\n".join([*([step.explanation.strip()] if step.explanation.strip() else []), *actions])
