"""Analyses Python code of a model without running it: whether it parses, and which plain calls it makes."""

import ast
from collections.abc import Callable, Collection, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

from backend.domain.actions._blocks import TOKENS, Block
from backend.domain.actions._checked import LONGEST_CODE
from backend.domain.errors import InvalidAction
from backend.domain.model.trajectory import Action, ActionType

PYTHON_LABELS = frozenset({"", "python", "py", "python3", "ipython", "tool_code", "code", "pyautogui"})
"""`tool_code` is Gemini's."""
_LONGEST_LINE = 200
_IDLE = (
    ast.Import,
    ast.ImportFrom,
    ast.Assign,
    ast.AnnAssign,
    ast.AugAssign,
    ast.FunctionDef,
    ast.ClassDef,
    ast.Pass,
    ast.Expr,
)
"""Statements that do nothing if they call nothing; others may fail, and the model is told how."""


class NotTypedError(Exception):
    """A call that only Python itself can execute faithfully."""


@dataclass(frozen=True)
class PythonCall:
    """A statement that is a single call with literal values.

    Attributes:
        name: as written, with its dots.
        source: the statement.
    """

    name: str
    args: tuple[Any, ...]
    named: Mapping[str, Any]
    source: str


@dataclass(frozen=True)
class Code:
    """Parsed code, with the WAIT, DONE or FAIL at its end."""

    text: str
    tree: ast.Module
    end: Action | None

    @property
    def does_nothing(self) -> bool:
        """Nothing is called: comments, imports, assignments, definitions. Such code is not run."""
        return not called_functions(self.tree) and all(isinstance(statement, _IDLE) for statement in self.tree.body)


def read_code(block: Block, path: str = "") -> Code:
    """The code of a block.

    Raises:
        InvalidAction: the code is not Python, is too long, has a token before its end, or is data.
    """
    text = _dedent(block.body.strip("\r\n"))
    if len(text) > LONGEST_CODE:
        raise InvalidAction(
            f"the code has {len(text)} characters, at most {LONGEST_CODE} are run", code="input_too_long", path=path
        )
    tree = _parse(text, path)
    end = _token(tree.body[-1]) if tree.body else None
    if end:
        last = tree.body.pop()
        text = _before(text, last)
    if _has_token(tree):
        raise InvalidAction(
            "WAIT, DONE and FAIL come last", code="invalid_code", path=path, hint="Write them on a line of their own."
        )
    code = Code(text, tree, end)
    if not end and code.does_nothing and (not text.strip() or any(map(_is_data, tree.body))):
        raise InvalidAction("the block has no code in it", code="invalid_code", path=path)
    return code


def _has_token(tree: ast.Module) -> bool:
    """Whether the code uses WAIT, DONE or FAIL as a value, and not as variables of its own."""
    names = [node for node in ast.walk(tree) if isinstance(node, ast.Name) and node.id in TOKENS]
    own = {name.id for name in names if isinstance(name.ctx, ast.Store)}
    return any(name.id not in own for name in names)


def _is_data(statement: ast.stmt) -> bool:
    """A value by itself, such as JSON in a block without a label. A text by itself is a comment, but no token in it."""
    if not isinstance(statement, ast.Expr):
        return False
    return not isinstance(statement.value, ast.Constant) or statement.value.value in TOKENS


def _dedent(text: str) -> str:
    """Without the indentation of the first line, if all lines share it: blocks inside a list are indented."""
    lines = text.split("\n")
    margin = lines[0][: len(lines[0]) - len(lines[0].lstrip())]
    if not margin or not all(line.startswith(margin) or not line.strip() for line in lines):
        return text
    return "\n".join(line[len(margin) :] for line in lines)


def _parse(text: str, path: str) -> ast.Module:
    try:
        return ast.parse(text, "<reply>")
    except SyntaxError as error:
        line = (error.text or "").strip()[:_LONGEST_LINE]
        where = f", line {error.lineno}: {line!r}" if error.lineno and line else ""
        raise InvalidAction(f"this is not Python ({error.msg}{where})", code="invalid_code", path=path) from error
    except (ValueError, RecursionError, MemoryError) as error:
        raise InvalidAction(
            "this is not Python: it has odd characters or is nested too deeply", code="invalid_code", path=path
        ) from error


def _token(statement: ast.stmt) -> Action | None:
    if isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Name) and statement.value.id in TOKENS:
        return Action(type=ActionType(statement.value.id))
    return None


def _before(text: str, statement: ast.stmt) -> str:
    lines = text.split("\n")
    line = lines[statement.lineno - 1].encode()[: statement.col_offset].decode().rstrip().rstrip(";")
    return "\n".join([*lines[: statement.lineno - 1], line]).rstrip()


def plain_calls(tree: ast.Module, imports: Collection[str], values: Mapping[str, Any]) -> Sequence[PythonCall] | None:
    """The statements of code that only calls functions with literal values; None for any other code.

    Args:
        tree: the code.
        imports: modules whose import has no effect.
        values: values of names.
    """
    calls = []
    for statement in tree.body:
        if _does_nothing(statement, imports):
            continue
        call = _plain(statement, values)
        if call is None:
            return None
        calls.append(call)
    return calls


def _does_nothing(statement: ast.stmt, imports: Collection[str]) -> bool:
    if isinstance(statement, ast.Import):
        return all(name.name in imports and name.asname is None for name in statement.names)
    if isinstance(statement, ast.Assign) and len(statement.targets) == 1:
        return dotted_name(statement.targets[0]) == "pyautogui.FAILSAFE" and isinstance(statement.value, ast.Constant)
    return isinstance(statement, ast.Pass) or (
        isinstance(statement, ast.Expr) and isinstance(statement.value, ast.Constant)
    )


def _plain(statement: ast.stmt, values: Mapping[str, Any]) -> PythonCall | None:
    if not isinstance(statement, ast.Expr) or not isinstance(statement.value, ast.Call):
        return None
    call = statement.value
    name = dotted_name(call.func)
    try:
        args = tuple(_value(node, values) for node in call.args)
        named = {str(word.arg): _value(word.value, values) for word in call.keywords if word.arg or _spread()}
    except NotTypedError:
        return None
    return PythonCall(name, args, named, ast.unparse(statement)) if name else None


def _spread() -> bool:
    raise NotTypedError


def dotted_name(node: ast.expr) -> str:
    """`a.b.c` of names and attributes, empty for anything else."""
    parts = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    return ".".join([node.id, *reversed(parts)]) if isinstance(node, ast.Name) else ""


def _value(node: ast.expr, values: Mapping[str, Any]) -> Any:
    if isinstance(node, ast.Constant) and not isinstance(node.value, bytes | complex):
        return node.value
    if isinstance(node, ast.Tuple | ast.List):
        return [_value(part, values) for part in node.elts]
    if isinstance(node, ast.Name) and node.id in values:
        return values[node.id]
    if isinstance(node, ast.UnaryOp) and isinstance(node.op, ast.USub) and isinstance(node.operand, ast.Constant):
        number = node.operand.value
        if isinstance(number, int | float) and not isinstance(number, bool):
            return -number
    raise NotTypedError


def bind_arguments(function: Callable[..., Sequence[Action]], call: PythonCall) -> Sequence[Action]:
    """Arguments of a call, bound by a function with the same signature.

    Raises:
        NotTypedError: the arguments do not fit.
    """
    try:
        return function(*call.args, **call.named)
    except (TypeError, ValueError, OverflowError, AttributeError) as error:
        # The model may pass values of any type. pydantic's errors are ValueErrors.
        raise NotTypedError from error


def called_functions(tree: ast.Module) -> Sequence[ast.Call]:
    """Names of all functions that the code calls."""
    return [node for node in ast.walk(tree) if isinstance(node, ast.Call)]
