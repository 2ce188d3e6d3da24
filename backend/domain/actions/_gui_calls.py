"""Reads the calls that native GUI models write: by name, with arguments by name.

Each reader turns the text of a reply into calls, or raises InvalidAction. What a call means is in `_gui_verbs.py`.
"""

import ast
import json
import re
from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.actions._blocks import fenced_blocks
from backend.domain.actions._checked import LONGEST_CODE
from backend.domain.actions._forms import short
from backend.domain.actions._gui_points import numbers_of
from backend.domain.actions._json import json_values
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
_ACTION = re.compile(r"^[ \t]*(?:\*\*|#+ )?Actions?[:\uff1a](?:\*\*)?", re.MULTILINE | re.IGNORECASE)
_NEXT_ACTION = re.compile(rf"{_ACTION.pattern}[ \t]*(?=[a-z_]\w{{0,30}}[ \t]*\()", re.MULTILINE | re.IGNORECASE)
_INLINE_ACTION = re.compile(r"\s(?:Action|actions)[:\uff1a]\s?(?=[A-Za-z_]{1,30}[ (<\[])")
_ITEM = r"[ \t]*(?:[-*\u2022][ \t]+|\d{1,2}[.)][ \t]+)?"
_CALL = re.compile(
    rf"(?:^{_ITEM}|(?<=['\"\]>)(]\))[\s;,&]{{0,9}}(?:(?:and|then)\s{{1,9}}){{0,2}})"
    r"(?P<name>[A-Za-z_]\w{0,30})[ \t]*\((?=(?P<first>\s*(?:\w{1,30}\s*=|\)))?)",
    re.MULTILINE,
)
"""A call at the beginning of a line, or behind the end of another one; `first` is its first argument's name."""
_NAME_ALONE = re.compile(r"([A-Za-z_]{1,30})[.;]?\Z")
_CALL_INSIDE = re.compile(r"['\"]\s{0,9}\)[^'\"]{0,200}?\b(\w{1,31})\s?\((?:\w{1,30}\s?=\s?['\"(\[<]|\))")
"""Text within a call that shows that the call ended before it, with words between it and the next one."""
_KEY = re.compile(r"\s*(\w{1,30})\s*=\s*")
_QUOTED_END = {quote: re.compile(rf"(?<!\\)(?:\\\\)*{quote}\s*+(?:,(?=\s*\w{{1,30}}\s*=)|,?\s*\Z)") for quote in "'\""}
_BARE_END = re.compile(r",(?=\s*\w{1,30}\s*=)|\Z")
_ESCAPED = re.compile(r"\\(?:([nt'\"\\])|(?:u[0-9a-fA-F]{4}(?:\\u[dD][c-fC-F][0-9a-fA-F]{2})?))")
_PYTHON = re.compile(
    r"^[ \t]*(?:pyautogui|computer|browser|mobile|time)\.\w|^[ \t]*(?:terminate|answer)\(", re.MULTILINE
)
_CHAT_MARK = re.compile(r"<\|(?:im_start|im_end|diff_marker|recipient|endoftext)\|>")
_TOOL_CALL = re.compile(r"<tool_call>(.*?)(</tool_call>|(?=<tool_call>)|\Z)", re.DOTALL)
_XML_FUNCTION = re.compile(r"\s*<function=([\w.]{1,60})>(.*?)</function>\s*(?:</[\w:]+>\s*)?\Z", re.DOTALL)
_BARE_OBJECT = re.compile(r"^[ \t]*(?:\[[ \t]*)?\{", re.MULTILINE)
_INLINE_OBJECT = re.compile(r"\{\s*['\"]action['\"]\s*:")
_NEXT_OBJECT = re.compile(r"(?<=\})\s{0,99}\n\s{0,99}(?=\{)")
_FUNCTION_START = re.compile(r"(?=<function=)")
_NEVER_USED = re.compile(r"_never_used_[0-9a-f]{1,64}")
"""Seed's models have names that no text contains."""
_XML_PARAMETER = re.compile(r"<parameter=(\w{1,40})>\n?(.*?)\n?</parameter>(?=\s*(?:<parameter=|\Z))", re.DOTALL)
_LINE = re.compile(
    r"(?:[-*\u2022]\s+|\d+[.)]\s*)?([A-Z][A-Z_]{1,30})(?:\s+|(?=[\[<(])|\Z)(.*)\Z", re.DOTALL | re.IGNORECASE
)
_IN_BRACKETS = re.compile(r"\[(.*)\]\Z", re.DOTALL)
_OPEN_TEXT = re.compile(r"TYPE\s{0,99}\[", re.IGNORECASE)
_POINTS = re.compile(r"(?:<(?:point|box|bbox)>|\[\[|<\|box_start\|>)", re.IGNORECASE)
_BETWEEN_POINTS = re.compile(r"([>)\]])\s*(?:to|->|,)\s*([<(\[])", re.IGNORECASE)
_TWO_WORDS = re.compile(r"^(double|right|middle)[ -]click\b", re.IGNORECASE)
_SCROLL = re.compile(
    r"(?P<before><point>[^<]{1,60}</point>)?\s*(?P<open>\[)?(?P<way>up|down|left|right)(?(open)\])"
    r"\s*(?P<behind><point>[^<]{1,60}</point>)?\Z",
    re.IGNORECASE,
)
_TOOL = "computer_use"
_AT = ("x", "y")
_ENDS = frozenset({"wait", "done", "fail"})
_LISTS = frozenset({"coordinate", "coordinate2", "keys"})
_BEHIND_CALLS: Mapping[str, Sequence[GuiCall]] = {
    "DONE": (GuiCall("terminate", {"status": "success"}),),
    "FAIL": (GuiCall("terminate", {"status": "failure"}),),
    "WAIT": (GuiCall("wait"),),
}
"""What a word alone on the last line means, behind calls."""


def unreadable(text: str, example: str) -> InvalidAction:
    """The error of a text that has no call."""
    message = f"there is no action that can be read in {short(text.strip()[:100])}"
    return InvalidAction(message, code="action_missing", hint=f"For example {example}")


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
    """UI-TARS: `name(argument='text', ...)` behind `Action:`, one or more, behind each other or on lines of their own.

    A quote inside of a text needs no escape, as the models leave it out; some write `Action:` before each call. Models
    of the Seed family write calls as tags.
    """
    if "<function" in text:
        return _tagged_calls(text, names, example)
    body = _NEXT_ACTION.sub("", _body(text))
    if alone := _alone(body, names):
        return [alone]
    starts = [call for call in _CALL.finditer(body) if call["name"].lower() in names and _may_start(body, call)]
    if not starts or starts[0].start():
        if other := _CALL.match(body):
            raise unknown(other["name"], names)
        raise unreadable(body, example)
    ends = [*(call.start() for call in starts[1:]), len(body)]
    calls = [_function_call(call, body[call.end() : end], example) for call, end in zip(starts, ends, strict=True)]
    if any(_hides_call(str(value), names) for call in calls for value in call.arguments.values()):
        raise unreadable(body, example)
    return calls


def _alone(body: str, names: Collection[str]) -> GuiCall | None:
    """A call that is only its name: of those without arguments, `wait`, `finished` and alike; DONE, FAIL, WAIT."""
    word = _NAME_ALONE.match(body)
    name = word[1].lower() if word else ""
    return GuiCall(name) if name in names and isinstance(names, Mapping) and names[name] in _ENDS else None


def _may_start(body: str, call: re.Match[str]) -> bool:
    """Whether a call starts there: behind another one only if its arguments begin as one's do."""
    return bool(call["first"]) or call.start() == 0 or body[call.start() - 1] == "\n"


def _hides_call(value: str, names: Collection[str]) -> bool:
    return any(match[1].lower() in names for match in _CALL_INSIDE.finditer(value))


def _tagged_calls(text: str, names: Collection[str], example: str) -> Sequence[GuiCall]:
    """Seed: `<function=click><parameter=point>...</parameter></function>`, one or more, each with its end."""
    if len(text) > LONGEST_CODE:
        raise InvalidAction(f"the reply has more than {LONGEST_CODE} characters", code="input_too_long")
    plain = _NEVER_USED.sub("", text)
    blocks = [_XML_FUNCTION.match(part) for part in _FUNCTION_START.split(plain)[1:]]
    calls = [
        GuiCall(block[1].lower(), {key.lower(): value for key, value in _XML_PARAMETER.findall(block[2])})
        for block in blocks
        if block
    ]
    if not calls or len(calls) < len(blocks):
        raise unreadable(text, example)
    for call in calls:
        if call.name not in names:
            raise unknown(call.name, names)
    return calls


def _function_call(call: re.Match[str], remainder: str, example: str) -> GuiCall:
    inner = remainder.strip().rstrip(";,.").rstrip()
    if not inner.endswith(")"):
        raise unreadable(call[0] + remainder, example)
    arguments, inner, position = dict[str, Any](), inner[:-1], 0
    while inner[position:].strip():
        key = _KEY.match(inner, position)
        if key is None:
            raise unreadable(call[0] + remainder, example)
        quote = inner[key.end() : key.end() + 1]
        quoted = quote in _QUOTED_END
        start = key.end() + quoted
        end = (_QUOTED_END[quote] if quoted else _BARE_END).search(inner, start)
        if end is None:
            raise unreadable(call[0] + remainder, example)
        # A match of a quote begins with the escaped backslashes before it, which are text.
        value = inner[start : end.start() + len(end[0]) - len(end[0].lstrip("\\"))]
        arguments[key[1].lower()] = _ESCAPED.sub(_unescape, value) if quoted else value.strip()
        position = end.end()
    return GuiCall(call["name"].lower(), _with_point(arguments))


def _with_point(arguments: dict[str, Any]) -> dict[str, Any]:
    """The arguments, with `x` and `y` as one point."""
    if set(_AT) <= set(arguments):
        pair = [arguments.pop("x"), arguments.pop("y")]
        arguments["point"] = f"({', '.join(pair)})" if all(isinstance(number, str) for number in pair) else pair
    return arguments


def _unescape(match: re.Match[str]) -> str:
    if match[1] is None:
        character = json.loads(f'"{match[0]}"')
        return character if character.isprintable() else match[0]
    return {"n": "\n", "t": "\t"}.get(match[1], match[1])


def python_calls(text: str, names: Collection[str], example: str) -> Sequence[GuiCall]:
    """Aguvis: calls of `pyautogui`, `terminate` and `answer` in Python, from the first line that is one to the end."""
    blocks = [block.body for block in fenced_blocks(text) if block.closed and _PYTHON.search(block.body)]
    body = _body("\n".join(blocks) or (_FENCE.sub("", _CHAT_MARK.sub("\n", text)) if "<|" in text else text))
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
    name = ast.unparse(call.func).lower().removeprefix("pyautogui.").removeprefix("computer.")
    try:
        positional = [ast.literal_eval(argument) for argument in call.args]
        arguments = {str(keyword.arg).lower(): ast.literal_eval(keyword.value) for keyword in call.keywords}
    except (ValueError, TypeError, RecursionError) as error:
        raise unreadable(ast.unparse(statement), example) from error
    if name not in names:
        raise unknown(name, names)
    if name == "hotkey" and positional and all(isinstance(key, str) for key in positional):
        return GuiCall(name, {"keys": positional, **arguments})
    if len(positional) == 1 and len(numbers_of(positional[0])) == len(_AT):
        positional = list(positional[0])
    if len(positional) > len(_AT):
        raise unreadable(ast.unparse(statement), example)
    arguments |= dict(zip(_AT if len(positional) == len(_AT) else ("",), positional, strict=False))
    return GuiCall(name, _with_point(arguments))


def tool_calls(text: str, example: str) -> Sequence[GuiCall]:
    """Qwen-VL: `computer_use` between `<tool_call>` and its end, as JSON (2.5, 3) or as tags (3.5)."""
    if len(text) > LONGEST_CODE:
        raise InvalidAction(f"the reply has more than {LONGEST_CODE} characters", code="input_too_long")
    blocks = list(_TOOL_CALL.finditer(text))
    if any(not block[2] and _object(block[1]) is None for block in blocks):
        raise unreadable(text, example)
    bodies = [block[1] for block in blocks] or _bare_calls(text)
    if not bodies:
        raise unreadable(text, example)
    last_line = text[blocks[-1].end() :].rstrip().rpartition("\n")[2].strip() if blocks else ""
    calls = [tool_call(*parts) for body in bodies for parts in _call_parts(body, example)]
    return [*calls, *_BEHIND_CALLS.get(last_line, ())]


def _bare_calls(text: str) -> list[str]:
    """Calls without their marks, as servers leave them that take the marks for their own: up to the end of the text."""
    bare = _FENCE.sub("", text).strip().removesuffix("</tool_call>").strip()
    if "<function=" in bare:
        return [part for part in _FUNCTION_START.split(bare) if part.startswith("<function=")]
    start = _BARE_OBJECT.search(bare)
    return _NEXT_OBJECT.split(bare[start.start() :]) if start else []


def _object(text: str) -> Any:
    """The value of JSON with raw line ends in texts, or of Python, which some models write; None if it is neither."""
    try:
        return json.loads(text, strict=False)
    except (ValueError, RecursionError):
        try:
            return ast.literal_eval(text.strip())
        except (ValueError, SyntaxError, TypeError, RecursionError, MemoryError):
            return None


def _call_parts(body: str, example: str) -> Sequence[tuple[Any, Any]]:
    """Names and arguments of the calls between a pair of marks: one, several behind each other, or a list."""
    if tags := _XML_FUNCTION.match(body):
        return [(tags[1], {key: _value(key, value) for key, value in _XML_PARAMETER.findall(tags[2])})]
    values = [part for value in _objects(body) for part in (value if isinstance(value, list | tuple) else [value])]
    if not values or not all(isinstance(value, dict) for value in values):
        raise unreadable(body, example)
    return [
        (value["name"], value.get("arguments", value.get("parameters"))) if "name" in value else (_TOOL, value)
        for value in values
    ]


def _objects(text: str) -> Sequence[Any]:
    """The values of JSON or Python, one or several, with or without commas between them; empty if it is neither."""
    value = _object(text)
    try:
        return list(json_values(text)) if value is None else [value]
    except (ValueError, RecursionError):
        return _object(f"[{text}]") or ()


def _value(name: str, text: str) -> Any:
    """A parameter's value: its text, and a list where it is one of numbers or keys."""
    value = _object(text) if name in _LISTS else None
    return value if isinstance(value, list) else text


def tool_call(name: Any, arguments: Any) -> GuiCall:
    """The call that a tool call's `action` names. Raises InvalidAction."""
    if name != _TOOL:
        raise InvalidAction(f"there is no tool {short(name)}", code="unknown_action", hint=f"There is {_TOOL}.")
    if isinstance(arguments, str):  # OpenAI's form of a call, which some templates copy.
        arguments = _object(arguments)
    lowered = {str(key).lower(): value for key, value in arguments.items()} if isinstance(arguments, Mapping) else {}
    action = lowered.pop("action", None)
    if not isinstance(action, str):
        raise InvalidAction(
            "expected an object with an action",
            code="invalid_arguments",
            path="arguments",
            hint="Such as left_click.",
        )
    return GuiCall(action.strip().lower(), _with_point(lowered))


def action_lines(text: str, names: Mapping[str, str], example: str) -> Sequence[GuiCall]:
    """OS-Atlas: `NAME`, `NAME [text]` or `NAME <point>[[x, y]]</point>` behind `actions:`, one a line.

    A text in brackets may have line ends.
    """
    lines: list[str] = []
    in_text = False
    for line in _body(text).splitlines():
        if in_text:
            lines[-1] += f"\n{line.rstrip()}"
        elif line.strip():
            lines.append(line.strip())
            in_text = bool(_OPEN_TEXT.match(lines[-1]))
        in_text = in_text and not line.rstrip().endswith("]")
    if not lines:
        raise unreadable(text, example)
    return [_action_line(line, names, example) for line in lines]


def _action_line(line: str, names: Mapping[str, str], example: str) -> GuiCall:
    match = _LINE.match(_TWO_WORDS.sub(r"\1_click", line))
    if match is None or not (match[1].isupper() or match[1].lower() in names):
        raise unreadable(line, example)
    name, remainder = match[1].lower(), match[2].strip()
    verb = names.get(name, "")
    if not remainder or (remainder == "." and verb in _ENDS):
        return GuiCall(name)
    inner = _IN_BRACKETS.match(remainder)
    if verb == "type" and inner:
        return GuiCall(name, {"text": inner[1]})
    if verb == "scroll" and (scroll := _SCROLL.match(remainder)):
        point = scroll["before"] or scroll["behind"]
        return GuiCall(name, {"text": scroll["way"], **({"point": point} if point else {})})
    if _POINTS.match(remainder) or numbers_of(remainder):
        return GuiCall(name, {"point": _BETWEEN_POINTS.sub(r"\1 \2", remainder)})
    if inner is None:
        raise unreadable(line, example)
    return GuiCall(name, {"text": inner[1]})


def dictionaries(text: str, example: str) -> Sequence[GuiCall]:
    """ShowUI: `{'action': 'CLICK', 'value': None, 'position': [x, y]}`, in Python or JSON, one or more."""
    body = _body(text)
    start = _BARE_OBJECT.search(body) or _INLINE_OBJECT.search(body)
    parts = _NEXT_OBJECT.split(body[start.start() :].strip().rstrip(".").rstrip()) if start else [body]
    parsed = [_object(part) for part in parts]
    if not all(isinstance(value, dict | list | tuple) for value in parsed):
        raise unreadable(body, example)
    values = [item for value in parsed for item in (value if isinstance(value, list | tuple) else [value])]
    if not values:
        raise unreadable(body, example)
    return [_dictionary(value, example) for value in values]


def _dictionary(value: Any, example: str) -> GuiCall:
    lowered = {str(key).lower(): part for key, part in value.items()} if isinstance(value, dict) else {}
    name = lowered.pop("action", None)
    if not isinstance(name, str):
        raise unreadable(str(value), example)
    return GuiCall(name.strip().lower().replace(" ", "_"), lowered)
