"""Reads the calls that native GUI models write: by name, with arguments by name.

Each reader turns the text of a reply into calls, or raises InvalidAction. What a call means is in `_gui_verbs.py`.
"""

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.actions._checked import LONGEST_CODE
from backend.domain.actions._forms import short
from backend.domain.errors import InvalidAction


@dataclass(frozen=True)
class GuiCall:
    """One call.

    Attributes:
        name: in lower case.
        arguments: by name in lower case.
    """

    name: str
    arguments: Mapping[str, Any] = field(default_factory=dict)


_FENCE = re.compile(r"^[ \t]*```\w{0,20}[ \t]*$", re.MULTILINE)
_ACTION = re.compile(r"^[ \t]*(?:\*\*|#+ )?Actions?:(?:\*\*)?", re.MULTILINE | re.IGNORECASE)
_INLINE_ACTION = re.compile(r"\s(?:Action|actions):\s?(?=[A-Za-z_]{1,30}[ (<\[])")
_CALL = re.compile(r"^[ \t]*([A-Za-z_]\w{0,30})[ \t]*\(", re.MULTILINE)
_KEY = re.compile(r"\s*(\w{1,30})\s*=\s*")
_QUOTED_END = {quote: re.compile(rf"(?<!\\)(?:\\\\)*{quote}\s*+(?:,(?=\s*\w{{1,30}}\s*=)|,?\s*\Z)") for quote in "'\""}
_BARE_END = re.compile(r",(?=\s*\w{1,30}\s*=)|\Z")
_ESCAPED = re.compile(r"\\([nt'\"\\])")
_PYTHON = re.compile(r"^[ \t]*(?:pyautogui|browser|mobile)\.\w|^[ \t]*(?:terminate|answer)\(", re.MULTILINE)
_CHAT_MARK = re.compile(r"<\|(?:im_start|im_end|diff_marker|recipient|endoftext)\|>")
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_XML_FUNCTION = re.compile(r"\s*<function=([\w.]{1,60})>(.*?)</function>\s*\Z", re.DOTALL)
_XML_PARAMETER = re.compile(r"<parameter=(\w{1,40})>\n?(.*?)\n?</parameter>", re.DOTALL)
_LINE = re.compile(r"(?:\d+\.\s*)?([A-Z][A-Z_]{1,30})(?:\s+|(?=[\[<(])|\Z)(.*)\Z", re.DOTALL | re.IGNORECASE)
_IN_BRACKETS = re.compile(r"\[(.*)\]\Z", re.DOTALL)
_POINTS = re.compile(r"(?:<point>|\[\[|<\|box_start\|>)", re.IGNORECASE)
_TOOL = "computer_use"
_AT = ("x", "y")


def unreadable(text: str, example: str) -> InvalidAction:
    """The error of a text that has no call."""
    words = f"there is no action that can be read in {short(text.strip()[:100])}"
    return InvalidAction(words, code="action_missing", hint=f"For example {example}")


def unknown(name: str, names: Collection[str], path: str = "") -> InvalidAction:
    """The error of a name that the format does not have."""
    known = f"Known: {', '.join(names)}."
    return InvalidAction(f"there is no action {short(name)}", code="unknown_action", path=path, hint=known)


def _body(text: str) -> str:
    """The text behind the first `Action:`, without fences; all of it where there is none."""
    start = _ACTION.search(text) or _INLINE_ACTION.search(text)
    body = _FENCE.sub("", text[start.end() :] if start else text).strip()
    if len(body) > LONGEST_CODE:
        raise InvalidAction(f"the action has more than {LONGEST_CODE} characters", code="input_too_long")
    return body.strip("`").strip()


def function_calls(text: str, names: Collection[str], example: str) -> Sequence[GuiCall]:
    """UI-TARS: `name(argument='text', ...)` behind `Action:`, one or more, each at the beginning of a line.

    A quote inside of a text needs no escape, as the models leave it out.
    """
    body = _body(text)
    starts = [call for call in _CALL.finditer(body) if call[1].lower() in names]
    if not starts or starts[0].start():
        if other := _CALL.match(body):
            raise unknown(other[1], names)
        raise unreadable(body, example)
    ends = [*(call.start() for call in starts[1:]), len(body)]
    return [_function_call(call, body[call.end() : end], example) for call, end in zip(starts, ends, strict=True)]


def _function_call(call: re.Match[str], rest: str, example: str) -> GuiCall:
    inner = rest.strip().rstrip(";,").rstrip()
    if not inner.endswith(")"):
        raise unreadable(call[0] + rest, example)
    arguments, inner, position = dict[str, Any](), inner[:-1], 0
    while inner[position:].strip():
        key = _KEY.match(inner, position)
        if key is None:
            raise unreadable(call[0] + rest, example)
        quote = inner[key.end() : key.end() + 1]
        quoted = quote in _QUOTED_END
        start = key.end() + quoted
        end = (_QUOTED_END[quote] if quoted else _BARE_END).search(inner, start)
        if end is None:
            raise unreadable(call[0] + rest, example)
        # A match of a quote begins with the escaped backslashes before it, which are text.
        value = inner[start : end.start() + len(end[0]) - len(end[0].lstrip("\\"))]
        arguments[key[1].lower()] = _ESCAPED.sub(_unescaped, value) if quoted else value.strip()
        position = end.end()
    return GuiCall(call[1].lower(), arguments)


def _unescaped(match: re.Match[str]) -> str:
    return {"n": "\n", "t": "\t"}.get(match[1], match[1])


def python_calls(text: str, names: Collection[str], example: str) -> Sequence[GuiCall]:
    """Aguvis: calls of `pyautogui`, `terminate` and `answer` in Python, from the first line that is one to the end."""
    body = _body(_FENCE.sub("", _CHAT_MARK.sub("\n", text)) if "<|" in text else text)
    start = _PYTHON.search(body)
    if start is None:
        raise unreadable(body, example)
    try:
        tree = ast.parse("\n".join(line.strip() for line in body[start.start() :].strip().splitlines()))
    except (SyntaxError, ValueError, RecursionError, MemoryError) as error:
        raise unreadable(body[start.start() :], example) from error
    return [_python_call(statement, names, example) for statement in tree.body]


def _python_call(statement: ast.stmt, names: Collection[str], example: str) -> GuiCall:
    call = statement.value if isinstance(statement, ast.Expr) else None
    if not isinstance(call, ast.Call):
        raise unreadable(ast.unparse(statement), example)
    name = ast.unparse(call.func).lower().removeprefix("pyautogui.")
    try:
        positional = [ast.literal_eval(argument) for argument in call.args]
        arguments = {str(one.arg).lower(): ast.literal_eval(one.value) for one in call.keywords}
    except (ValueError, TypeError, RecursionError) as error:
        raise unreadable(ast.unparse(statement), example) from error
    if name not in names:
        raise unknown(name, names)
    if name == "hotkey" and positional and all(isinstance(key, str) for key in positional):
        return GuiCall(name, {"keys": positional, **arguments})
    if len(positional) > len(_AT):
        raise unreadable(ast.unparse(statement), example)
    arguments |= dict(zip(_AT if len(positional) == len(_AT) else ("",), positional, strict=False))
    if set(_AT) <= set(arguments):
        arguments["point"] = [arguments.pop("x"), arguments.pop("y")]
    return GuiCall(name, arguments)


def tool_calls(text: str, example: str) -> Sequence[GuiCall]:
    """Qwen-VL: `computer_use` between `<tool_call>` and its end, as JSON (2.5, 3) or as tags (3.5)."""
    if len(text) > LONGEST_CODE:
        raise InvalidAction(f"the reply has more than {LONGEST_CODE} characters", code="input_too_long")
    blocks = list(_TOOL_CALL.finditer(text))
    bare = _FENCE.sub("", text).strip()
    bodies = [block[1] for block in blocks] or ([bare] if bare.startswith("{") else [])
    if not bodies or any(not block[2] and not _is_json(block[1]) for block in blocks):
        raise unreadable(text, example)
    return [tool_call(*_named(body, example)) for body in bodies]


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _named(body: str, example: str) -> tuple[Any, Any]:
    """Name and arguments of a call of a tool."""
    if tags := _XML_FUNCTION.match(body):
        return tags[1], {key: _value(value) for key, value in _XML_PARAMETER.findall(tags[2])}
    try:
        value = json.loads(body)
    except (ValueError, RecursionError) as error:
        raise unreadable(body, example) from error
    if not isinstance(value, dict):
        raise unreadable(body, example)
    return (value["name"], value.get("arguments")) if "name" in value else (_TOOL, value)


def _value(text: str) -> Any:
    """A parameter's value: a list or a number where it is one, else its text."""
    try:
        value = json.loads(text)
    except (ValueError, RecursionError):
        return text
    return value if isinstance(value, list) else text


def tool_call(name: Any, arguments: Any) -> GuiCall:
    """The call that a tool call's `action` names. Raises InvalidAction."""
    if name != _TOOL:
        raise InvalidAction(f"there is no tool {short(name)}", code="unknown_action", hint=f"There is {_TOOL}.")
    if not isinstance(arguments, Mapping) or not isinstance(arguments.get("action"), str):
        raise InvalidAction(
            "expected an object with an action",
            code="invalid_arguments",
            path="arguments",
            hint="Such as left_click.",
        )
    rest = {str(key).lower(): value for key, value in arguments.items() if key != "action"}
    return GuiCall(arguments["action"].strip().lower(), rest)


def action_lines(text: str, names: Collection[str], example: str) -> Sequence[GuiCall]:
    """OS-Atlas: `NAME`, `NAME [text]` or `NAME <point>[[x, y]]</point>` behind `actions:`, one a line."""
    body = _body(text)
    lines = [line.strip() for line in body.splitlines() if line.strip()]
    if not lines:
        raise unreadable(text, example)
    return [_action_line(line, names, example) for line in lines]


def _action_line(line: str, names: Collection[str], example: str) -> GuiCall:
    match = _LINE.match(line)
    if match is None or not (match[1].isupper() or match[1].lower() in names):
        raise unreadable(line, example)
    name, rest = match[1].lower(), match[2].strip()
    if not rest:
        return GuiCall(name)
    if _POINTS.match(rest):
        return GuiCall(name, {"point": rest})
    inner = _IN_BRACKETS.match(rest)
    if inner is None:
        raise unreadable(line, example)
    return GuiCall(name, {"text": inner[1]})


def dictionaries(text: str, example: str) -> Sequence[GuiCall]:
    """ShowUI: `{'action': 'CLICK', 'value': None, 'position': [x, y]}`, in Python or JSON, one or more."""
    body = _body(text)
    try:
        value = ast.literal_eval(body)
    except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
        try:
            value = json.loads(body)
        except (ValueError, RecursionError) as error:
            raise unreadable(body, example) from error
    values = value if isinstance(value, list | tuple) else [value]
    if not values:
        raise unreadable(body, example)
    return [_dictionary(one, example) for one in values]


def _dictionary(value: Any, example: str) -> GuiCall:
    if not isinstance(value, dict) or not isinstance(value.get("action"), str):
        raise unreadable(str(value), example)
    rest = {str(key).lower(): part for key, part in value.items() if key != "action"}
    return GuiCall(value["action"].strip().lower().replace(" ", "_"), rest)
