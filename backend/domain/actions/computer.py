"""`computer`: WindowsAgentArena's code blocks: the module `computer` and arbitrary Python."""

from collections.abc import Sequence
from typing import Any

from backend.domain.actions._blocks import TextActionSpace, token_after_blocks
from backend.domain.actions._computer_calls import ComputerCalls, check_names, code_of
from backend.domain.actions._python import Code, NotTypedError, plain_calls
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind, register

_IMPORTS = frozenset({"computer", "time"})
_LINES = (
    "computer.mouse.move_id(id=3): the pointer goes to the middle of element 3",
    "computer.mouse.move_abs(x=0.25, y=0.5): to a share of the screen's width and height",
    "computer.mouse.single_click(), double_click(), right_click(): where the pointer is",
    'computer.mouse.scroll(dir="down"), or "up"',
    "computer.mouse.drag(x=0.25, y=0.5): with the left button, from where the pointer is",
    'computer.keyboard.write("words"), computer.keyboard.press("enter"), computer.keyboard.press("ctrl+s")',
    'computer.clipboard.copy_text("words"), copy_image(id=3, description="what it shows"), paste()',
    'computer.os.open_program("msedge")',
    'computer.window_manager.switch_to_application("a window\'s title")',
)


@register(PluginKind.ACTION_SPACE, "computer")
class ComputerSpace(TextActionSpace):
    """Parses the ```decision and the first ```python block; other blocks are ignored."""

    about = "WindowsAgentArena's computer API in a python block, with a decision block: COMMAND, DONE, FAIL or WAIT."
    Params = Parameters

    def __init__(self, params: Any = None) -> None:
        self.params = params

    def instructions(self, sight: CoordinateFrame) -> str:
        lines = "\n".join(f"- {line}" for line in _LINES)
        return f"""Write your decision, one of COMMAND, DONE, FAIL and WAIT, in a block of its own:
```decision
COMMAND
```
With COMMAND, write the action in one block of Python, which runs on the desktop ({sight.platform}):
```python
computer.mouse.move_id(id=3)
computer.mouse.single_click()
```
The module `computer` is there already. Its functions:
{lines}
{len(sight.marks)} elements are numbered."""

    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        code = code_of(text)
        return code if isinstance(code, tuple) else [*_actions(code, sight), *token_after_blocks(text)]


def _actions(code: Code, sight: CoordinateFrame) -> Sequence[Action]:
    if code.does_nothing:
        return [code.end] if code.end else []
    check_names(code)
    calls = ComputerCalls(sight)
    plain = plain_calls(code.tree, _IMPORTS, {}) or ()
    try:
        actions = [action for call in plain for action in calls.actions(call)]
    except NotTypedError:
        actions = []
    if not actions:
        actions = [calls.python(code.text)]
    return [*actions, *([code.end] if code.end else [])]
