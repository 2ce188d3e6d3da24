"""`prosoft`: ProSoftArena's thirteen actions of the `computer` API and `drag`, with WAIT, DONE and FAIL."""

from collections.abc import Sequence
from typing import Any

from backend.domain.actions._blocks import TextActionSpace, token_after_blocks
from backend.domain.actions._computer_calls import ComputerCalls, check_names, code_of, qualify_names
from backend.domain.actions._python import Code, NotTypedError, plain_calls
from backend.domain.errors import InvalidAction
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind, register

# ProSoftArena, Table 8, and `drag` from its prompt: the function's name in the table, and its equivalent in the API.
_FUNCTIONS = {
    "move_id": "computer.mouse.move_id",
    "move_abs": "computer.mouse.move_abs",
    "single_click": "computer.mouse.single_click",
    "double_click": "computer.mouse.double_click",
    "right_click": "computer.mouse.right_click",
    "scroll": "computer.mouse.scroll",
    "drag": "computer.mouse.drag",
    "write": "computer.keyboard.write",
    "press": "computer.keyboard.press",
    "copy_text": "computer.clipboard.copy_text",
    "copy_image": "computer.clipboard.copy_image",
    "paste": "computer.clipboard.paste",
    "open_program": "computer.os.open_program",
    "switch_to_app": "computer.window_manager.switch_to_app",
    "switch_to_application": "computer.window_manager.switch_to_application",
}
_LINES = (
    "computer.mouse.move_id(id=3): the pointer goes to the middle of element 3",
    "computer.mouse.move_abs(x=0.25, y=0.5): to a share of the screen's width and height",
    "computer.mouse.single_click(), computer.mouse.double_click(), computer.mouse.right_click(): where the pointer is",
    'computer.mouse.scroll(dir="down"), or "up"',
    "computer.mouse.drag(x=0.25, y=0.5): with the left button, from where the pointer is",
    'computer.keyboard.write("words"), computer.keyboard.press("enter"), computer.keyboard.press("ctrl+s")',
    'computer.clipboard.copy_text("words"), computer.clipboard.copy_image(id=3, description="what it shows")',
    'computer.clipboard.paste(), computer.os.open_program("excel")',
    'computer.window_manager.switch_to_app("a window\'s title")',
)


@register(PluginKind.ACTION_SPACE, "prosoft")
class ProSoft(TextActionSpace):
    """Parses the ```decision and the first ```python block. Calls outside the space are invalid actions."""

    about = "ProSoftArena's thirteen actions, drag, WAIT, DONE and FAIL, in decision and python blocks."
    Params = Parameters

    def __init__(self, params: Any = None) -> None:
        self.params = params

    def instructions(self, sight: CoordinateFrame) -> str:
        lines = "\n".join(f"- {line}" for line in _LINES)
        return f"""Write your decision in a block of its own: COMMAND to act, WAIT to wait, DONE when the task is done,
FAIL when it cannot be done.
```decision
COMMAND
```
With COMMAND, write the calls in one block, one a line, with plain values; no other Python is allowed:
```python
computer.mouse.move_id(id=3)
computer.mouse.single_click()
```
There are these functions:
{lines}
{len(sight.marks)} elements are numbered."""

    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        code = code_of(text)
        return code if isinstance(code, tuple) else [*_actions(code, sight), *token_after_blocks(text)]


def _actions(code: Code, sight: CoordinateFrame) -> Sequence[Action]:
    if code.does_nothing:
        return [code.end] if code.end else []
    qualify_names(code.tree, _FUNCTIONS)
    check_names(code)
    plain = plain_calls(code.tree, frozenset({"computer"}), {})
    if plain is None:
        raise InvalidAction(
            "only plain calls of the functions are allowed, one a line", code="invalid_code", path="python"
        )
    calls = ComputerCalls(sight)
    actions: list[Action] = []
    for call in plain:
        if call.name not in _FUNCTIONS.values():
            raise InvalidAction(
                f"there is no action {call.name[:80]}", code="unknown_action", hint=f"Known: {', '.join(_FUNCTIONS)}."
            )
        try:
            actions.extend(calls.actions(call))
        except NotTypedError as error:
            raise InvalidAction(f"there is no action {call.name[:80]}", code="unknown_action") from error
    return [*actions, *([code.end] if code.end else [])]
