"""The `computer` API of WAA and ProSoftArena: typed actions for its calls, Python on the desktop for the rest.

Functions, arguments and amounts are WindowsAgentArena's (benchmark-formats, section 6); `drag` is read in both forms:
that of its prompt (fractions of the screen) and that of its code (`screen_x`, `screen_y` in pixels).
"""

import ast
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from backend.domain.actions._blocks import TOKENS, Block, fenced_blocks
from backend.domain.actions._keys import combination, press
from backend.domain.actions._points import mark_of, on_grid, pixel
from backend.domain.actions._python import (
    PYTHON_LABELS,
    Code,
    NotTypedError,
    PythonCall,
    bind_arguments,
    called_functions,
    dotted_name,
    read_code,
)
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame

_WHEEL_CLICKS = 3  # WAA scrolls by 400 of Windows' units; a wheel click has 120.
_DECISIONS = TOKENS | {"COMMAND"}
_LONGEST_DECISION = 2_000
_MOUSE = ("move_id", "move_abs", "single_click", "double_click", "right_click", "scroll", "drag")
_GUEST = {
    "clipboard": ("copy_text", "copy_image", "view_clipboard"),
    "os": ("open_program", "maximize_window", "is_installed"),
    "window_manager": ("switch_to_application", "switch_to_app"),
}
API = frozenset(
    [f"computer.mouse.{name}" for name in _MOUSE]
    + ["computer.keyboard.write", "computer.keyboard.press", "computer.clipboard.paste"]
    + [f"computer.{group}.{name}" for group, names in _GUEST.items() for name in names]
)
"""Every function of the API."""


class ComputerCalls:
    """Typed actions of plain calls; what has no typed form becomes a call of the library on the desktop."""

    def __init__(self, sight: CoordinateFrame) -> None:
        self._sight = sight
        self._functions: Mapping[str, Callable[..., Sequence[Action]]] = {
            "computer.mouse.move_id": self._move_id,
            "computer.mouse.move_abs": self._move_abs,
            "computer.mouse.single_click": lambda: [Action(type=ActionType.CLICK)],
            "computer.mouse.double_click": lambda: [Action(type=ActionType.CLICK, clicks=2)],
            "computer.mouse.right_click": lambda: [Action(type=ActionType.CLICK, button="right")],
            "computer.mouse.scroll": self._scroll,
            "computer.mouse.drag": self._drag,
            "computer.keyboard.write": lambda text: [Action(type=ActionType.TYPING, text=_string(text))],
            "computer.keyboard.press": self._press,
            "computer.clipboard.paste": lambda: [Action(type=ActionType.HOTKEY, keys=("ctrl", "v"))],
        }

    def actions(self, call: PythonCall) -> Sequence[Action]:
        """The actions of one plain call.

        Raises:
            NotTypedError: the call does not belong to this API.
            InvalidAction: its arguments are wrong.
        """
        if call.name in {"time.sleep", "pyautogui.sleep"}:
            return [Action(type=ActionType.PYTHON, text=f"import time, pyautogui; {call.source}")]
        if call.name in self._functions:
            try:
                return bind_arguments(self._functions[call.name], call)
            except NotTypedError as error:
                raise InvalidAction(
                    f"wrong arguments: {call.source[:100]}", code="invalid_arguments", path=call.name
                ) from error
        if call.name in API:
            return [self.python(call.source)]
        raise NotTypedError

    def python(self, code: str) -> Action:
        """Code that the desktop runs, with `computer` defined."""
        boxes = ""
        if "_id" in code or "copy_image" in code:
            rows = [(mark.id, mark.x, mark.y, mark.x + mark.width, mark.y + mark.height) for mark in self._sight.marks]
            boxes = ", ".join(f"{number}: ({x}, {y}, {right}, {bottom})" for number, x, y, right, bottom in rows)
        prelude = f"from deskarena_computer import Computer; computer = Computer({{{boxes}}})"
        return Action(type=ActionType.PYTHON, text=f"{prelude}\n{code}")

    def _move_id(self, id: Any) -> list[Action]:  # noqa: A002 - the API's own name.
        number = int(id) if isinstance(id, str) and id.isdecimal() and len(id) < 7 else id  # noqa: PLR2004
        if not isinstance(number, int) or isinstance(number, bool):
            raise NotTypedError
        x, y = mark_of(number, self._sight, "computer.mouse.move_id").centre
        return [Action(type=ActionType.MOVE_TO, x=x, y=y)]

    def _move_abs(self, x: Any, y: Any) -> list[Action]:
        across, down = on_grid(x, y, 1.0, self._sight)
        return [Action(type=ActionType.MOVE_TO, x=across, y=down)]

    def _scroll(self, dir: Any = "down") -> list[Action]:  # noqa: A002 - the API's own name.
        if dir not in ("up", "down"):
            raise NotTypedError
        return [Action(type=ActionType.SCROLL, dy=_WHEEL_CLICKS if dir == "up" else -_WHEEL_CLICKS)]

    def _drag(self, x: Any = None, y: Any = None, screen_x: Any = None, screen_y: Any = None) -> list[Action]:
        named = screen_x is not None or screen_y is not None
        across, down = (screen_x, screen_y) if named else (x, y)
        if named and (x is not None or y is not None):
            raise NotTypedError
        shares = not named and 0 <= across <= 1 and 0 <= down <= 1
        across, down = on_grid(across, down, 1.0, self._sight) if shares else pixel(across, down)
        return [Action(type=ActionType.DRAG_TO, x=across, y=down)]

    def _press(self, key: Any) -> list[Action]:
        return [press(combination(_string(key), "computer.keyboard.press"))]


def _string(value: Any) -> str:
    if not isinstance(value, str):
        raise NotTypedError
    return value


def check_names(code: Code) -> None:
    """Raises InvalidAction if the code calls a function that `computer` does not have."""
    for name in (dotted_name(call.func) for call in called_functions(code.tree)):
        if name.startswith("computer.") and name not in API:
            raise InvalidAction(
                f"there is no {name[:80]}", code="unknown_action", hint=f"Known: {', '.join(sorted(API))}."
            )


def code_of(text: str) -> Code | tuple[Action, ...]:
    """The code of a reply, or the action of its decision where that is not COMMAND. Raises InvalidAction."""
    blocks = fenced_blocks(text)
    word = decision(blocks)
    if word not in {None, "COMMAND"}:
        return (Action(type=ActionType(str(word))),)
    return read_code(code_block(blocks), "python")


def decision(blocks: Sequence[Block]) -> str | None:
    """The word of the first ```decision block without its comments; None if there is no such block.

    Raises:
        InvalidAction: the block has no decision word, or several.
    """
    block = next((block for block in blocks if block.label == "decision"), None)
    if block is None:
        return None
    lines = [line.partition("#")[0] for line in block.body[:_LONGEST_DECISION].splitlines()]
    words = {word.strip(".,;:!\"'*") for line in lines for word in line.split()} & _DECISIONS
    if len(words) != 1 or not block.closed:
        names = " and ".join(sorted(words)) or "none of them"
        raise InvalidAction(
            f"expected one of COMMAND, DONE, FAIL, WAIT, found {names}", code="action_missing", path="decision"
        )
    return words.pop()


def code_block(blocks: Sequence[Block]) -> Block:
    """The first ```python block, as upstream reads it.

    Raises:
        InvalidAction: there is none, or it is not closed.
    """
    block = next((block for block in blocks if block.label and block.label in PYTHON_LABELS), None)
    if block is None:
        raise InvalidAction(
            "there is no python block", code="code_block_missing", hint="Put the action between ```python and ```."
        )
    if not block.closed:
        raise InvalidAction(
            "the python block is not closed", code="code_block_not_closed", hint="End it with ``` on a line of its own."
        )
    return block


def qualify_names(tree: ast.Module, names: Mapping[str, str]) -> None:
    """Qualifies bare function names of the API (`move_id(3)`) in place."""
    for call in called_functions(tree):
        if isinstance(call.func, ast.Name) and call.func.id in names:
            call.func = ast.parse(names[call.func.id], mode="eval").body
