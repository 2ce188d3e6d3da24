"""`pyautogui`: OSWorld's Python code, run on the desktop, with WAIT, DONE and FAIL."""

import ast
import re
from collections.abc import Mapping, Sequence
from typing import Any

from pydantic import Field

from backend.domain.actions._blocks import Block, TextActionSpace, fenced_blocks, token_after_blocks, whole
from backend.domain.actions._checked import LONGEST_CODE
from backend.domain.actions._points import Coordinates, explain, place
from backend.domain.actions._pyautogui_calls import POINTING, PyautoguiCalls, Spot
from backend.domain.actions._python import (
    PYTHON_LABELS,
    Code,
    NotTypedError,
    called_functions,
    plain_calls,
    read_code,
)
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.registry import PluginKind, register

_TAG = re.compile(r"tag_(\d{1,6})")
_IMPORTS = frozenset({"pyautogui", "time"})
_SCROLLS = frozenset({"scroll", "hscroll", "vscroll"})
_INDIRECT = frozenset({"getattr", "eval", "exec", "vars", "globals", "__dict__", "attrgetter", "methodcaller"})
"""Ways to a function by its name as a text."""
_PRELUDE = "import pyautogui; import time; pyautogui.FAILSAFE = False"


@register(PluginKind.ACTION_SPACE, "pyautogui")
class Pyautogui(TextActionSpace):
    """Parses code blocks. Plain calls become typed actions; a block of other code becomes one PYTHON action."""

    about = "Python code with pyautogui in code blocks; WAIT, DONE, FAIL; tag_N names numbered elements."

    class Params(Coordinates):
        """Parameters of the `pyautogui` action space."""

        typed: bool = Field(
            default=True,
            description=(
                "Turns blocks of plain calls into typed actions, which the replay can draw; otherwise all code "
                "runs as it is."
            ),  # noqa: E501
        )

    def __init__(self, params: Any = None) -> None:
        self.params = params or self.Params()

    def instructions(self, sight: CoordinateFrame) -> str:
        tags = ""
        if sight.marks:
            tags = (
                "\nEach numbered element of the picture is a point of its own name, for example pyautogui.click(tag_3)."
            )
        return f"""Answer with Python code in a ```python block. It runs on the desktop, where pyautogui and time are
imported: pyautogui.click(x, y), doubleClick, rightClick, moveTo, dragTo, scroll(clicks), write(text), press(key),
hotkey(key, key), time.sleep(seconds), and whatever else Python can do. Every block starts anew: it knows no variable
of an earlier one. It cannot see the screen; write the coordinates as numbers.
{explain(self.params.coordinates, sight)}{tags}
Write WAIT, DONE or FAIL in place of the code, or as its last line, to wait, to say that the task is done, or that it
cannot be done."""

    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        blocks = _code_blocks(text)
        ending = token_after_blocks(text)
        return [
            *(action for index, block in enumerate(blocks, 1) for action in self._block(block, index, sight)),
            *ending,
        ]

    def _block(self, block: Block, index: int, sight: CoordinateFrame) -> Sequence[Action]:
        code = read_code(block, f"block {index}")
        tags = _tags(code.tree, sight)
        end = [code.end] if code.end else []
        if code.does_nothing:
            return end
        return [*(self._typed_actions(code, tags, sight) or self._python(code, tags)), *end]

    def _typed_actions(self, code: Code, tags: Mapping[str, Spot], sight: CoordinateFrame) -> Sequence[Action]:
        """The block as typed actions; empty if only Python can execute it."""
        calls = plain_calls(code.tree, _IMPORTS, tags) if self.params.typed else None
        reader = PyautoguiCalls(place(self.params.coordinates, sight), sight.platform)
        try:
            return [action for call in calls or () for action in reader.typed(call)]
        except NotTypedError:
            return []

    def _python(self, code: Code, tags: Mapping[str, Spot]) -> Sequence[Action]:
        if self.params.coordinates != "screen" and _points(code.tree):
            raise InvalidAction(
                f"coordinates in {self.params.coordinates} units must be plain numbers, one call a line",
                code="invalid_code",
                hint="Nothing else may stand in the same block.",
            )
        names = "".join(f"; {name} = ({spot[0]}, {spot[1]})" for name, spot in tags.items())
        return [Action(type=ActionType.PYTHON, text=f"{_PRELUDE}{names}\n{code.text}")]


def _code_blocks(text: str) -> Sequence[Block]:
    blocks = whole(fenced_blocks(text))
    if not blocks:
        raise InvalidAction(
            "there is no code block", code="code_block_missing", hint="Put the code between ```python and ```."
        )
    code = [block for block in blocks if block.label in PYTHON_LABELS]
    if not code:
        raise InvalidAction(f"expected a python block, found {blocks[0].label[:20]}", code="code_block_missing")
    if sum(len(block.body) for block in code) > LONGEST_CODE + 2 * len(code):
        raise InvalidAction(f"the code blocks have more than {LONGEST_CODE} characters together", code="input_too_long")
    return code


def _points(tree: ast.Module) -> bool:
    """Whether code points somewhere, has a function that does under a name of its own, or may reach one by a text."""
    at_pointer = {call.func for call in called_functions(tree) if _acts_at_pointer(call)}
    nodes = [node for node in ast.walk(tree) if node not in at_pointer]
    used = {_last_name(node) for node in nodes}
    imported = {name.name for node in nodes if isinstance(node, ast.ImportFrom) for name in node.names}
    return bool(POINTING & (used | imported) or _INDIRECT & used or _moves_by_distance(nodes))


def _acts_at_pointer(call: ast.Call) -> bool:
    """Whether a call has no point: no argument, or the amount of a scroll alone."""
    amounts = _last_name(call.func) in _SCROLLS
    return len(call.args) + len(call.keywords) <= amounts and not any(isinstance(one, ast.Starred) for one in call.args)


def _moves_by_distance(nodes: Sequence[ast.AST]) -> bool:
    """Whether code uses pyautogui's `move` or `drag`; other modules have functions of these names, too."""
    imports = [name for node in nodes if isinstance(node, ast.Import) for name in node.names]
    modules = {"pyautogui", *(name.asname for name in imports if name.name == "pyautogui")}
    used = {node.attr for node in nodes if isinstance(node, ast.Attribute) and _last_name(node.value) in modules}
    imported = {
        name.name
        for node in nodes
        if isinstance(node, ast.ImportFrom) and node.module == "pyautogui"
        for name in node.names
    }
    return bool({"move", "drag"} & (used | imported))


def _last_name(node: ast.AST) -> str:
    """The name of a variable, the last one of `pyautogui.click`, and empty for anything else."""
    return node.id if isinstance(node, ast.Name) else node.attr if isinstance(node, ast.Attribute) else ""


def _tags(tree: ast.Module, sight: CoordinateFrame) -> dict[str, Spot]:
    """The numbered elements that the code refers to, with their middles.

    Raises:
        InvalidAction: no element has that number.
    """
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and _TAG.fullmatch(node.id)]
    own = {node.id for node in names if isinstance(node.ctx, ast.Store)}
    spots = {f"tag_{mark.id}": Spot(mark.centre) for mark in sight.marks}
    used = dict.fromkeys(node.id for node in names if node.id not in own)
    for name in used:
        if name not in spots:
            raise InvalidAction(
                f"there is no element {name}", code="unknown_element", hint=f"{len(spots)} elements are numbered."
            )
    return {name: spots[name] for name in used}
