"""Recorded actions as the replies that each family of agents parses."""

import re
from collections.abc import Mapping, Sequence
from typing import Any

from tools.try_agents.model_server import Reply, message_item

Action = Mapping[str, Any]
WIDTH, HEIGHT = 1920, 1080


def prompt_agent(actions: Sequence[Action]) -> list[str]:
    """Code in a block, as OSWorld's PromptAgent asks for it."""
    return [f"```python\n{_code(action)}\n```" for action in actions if action["type"] != "DONE"] + ["```DONE```"]


def _code(action: Action) -> str:
    if action["type"] == "CLICK":
        return f"pyautogui.click({action['x']}, {action['y']}, clicks={action['clicks']}, button={action['button']!r})"
    if action["type"] == "TYPING":
        return f"pyautogui.typewrite({action['text']!r}, interval=0.02)"
    return f"pyautogui.hotkey({', '.join(map(repr, action['keys']))})"


def openai_computer_use(actions: Sequence[Action]) -> list[list[dict[str, Any]]]:
    """Computer calls of the Responses API, then a message."""
    calls = [_computer_call(number, action) for number, action in enumerate(actions) if action["type"] != "DONE"]
    return [*([call] for call in calls), [message_item("The task is done.")]]


def _computer_call(number: int, action: Action) -> dict[str, Any]:
    if action["type"] == "CLICK":
        arguments = {"type": "click", "button": action["button"], "x": action["x"], "y": action["y"]}
    elif action["type"] == "TYPING":
        arguments = {"type": "type", "text": action["text"]}
    else:
        arguments = {"type": "keypress", "keys": [key.upper() for key in action["keys"]]}
    call = {"id": f"cu_{number}", "call_id": f"call_{number}", "type": "computer_call", "status": "completed"}
    return {**call, "action": arguments, "pending_safety_checks": []}


def ui_tars(actions: Sequence[Action], point: str) -> list[str]:
    """Thought and action; `point` is the form of a point, from x and y between 0 and 1."""
    return [f"Thought: next\nAction: {_ui_tars(action, point)}" for action in actions]


def _ui_tars(action: Action, point: str) -> str:
    if action["type"] == "DONE":
        return "finished(content='done')"
    if action["type"] == "CLICK":
        x, y = (action["x"] + 0.5) / WIDTH, (action["y"] + 0.5) / HEIGHT
        # 1932x1092: the screenshot's size in whole patches of 28 pixels.
        return "click(" + point.format(x1000=round(x * 1000), y1000=round(y * 1000), x28=x * 1932, y28=y * 1092) + ")"
    if action["type"] == "TYPING":
        text = action["text"].replace("\n", "\\n")
        return f"type(content='{text}')"
    return f"hotkey(key='{' '.join(action['keys'])}')"


def agent_s3(actions: Sequence[Action]) -> list[str]:
    """Plans whose last block is one grounded action."""
    return [f"(Grounded Action)\n```python\n{_agent_s3(action)}\n```" for action in actions]


def _agent_s3(action: Action) -> str:
    if action["type"] == "DONE":
        return "agent.done()"
    if action["type"] == "CLICK":
        return f'agent.click("The point {action["x"]} {action["y"]} of the screen.", {action["clicks"]}, "left")'
    if action["type"] == "TYPING":
        return f"agent.type(text={action['text']!r})"
    return f"agent.hotkey({list(action['keys'])!r})"


def agent_s3_server(plans: Sequence[str], scripts: Sequence[str] = ()) -> Reply:
    """Answers Agent-S3's models by the request: planner, grounder, reflection, code agent and its summary.

    Args:
        plans: of the planner, by the number of its earlier answers.
        scripts: of the code agent, likewise.
    """

    def reply(body: Mapping[str, Any]) -> str:
        messages = body["messages"]
        system, last = _text(messages[0]), _text(messages[-1])
        turn = len([message for message in messages if message["role"] == "assistant"])
        if "Output only the coordinate" in last:
            x, y = re.findall(r"\d+", last)[:2]
            return f"({x}, {y})"
        if "You are a code execution agent" in system:
            return scripts[min(turn, len(scripts) - 1)] if scripts else "DONE"
        if "agent." in system and "def " in system:
            return plans[min(turn, len(plans) - 1)]
        return "The trajectory goes as planned."

    return reply


def _text(message: Mapping[str, Any]) -> str:
    content = message["content"]
    return content if isinstance(content, str) else " ".join(str(part.get("text", "")) for part in content)
