"""Evaluates spreadsheet formulas in conditions of conditional formats, whose results are in no file.

Formulas of cells are never evaluated: their last values are in the file. Unsupported formulas raise NotUnderstood.
Operators and their order follow ECMA-376 part 1, 18.17.2. The functions are in `_functions`.
"""

import operator
import re
from collections.abc import Callable, Sequence
from typing import Any

from backend.domain.evaluators.metrics.table._formula_values import (
    Area,
    FormulaContext,
    FormulaError,
    Node,
    NotUnderstood,
    compare,
    number,
    scalar,
    text,
)
from backend.domain.evaluators.metrics.table._functions import FUNCTIONS
from backend.domain.formats.sheet import column_number

MAX_DEPTH = 40
_TOKEN = re.compile(
    r"""\s*(?:
    (?P<number>\d+\.?\d*(?:[eE][+-]?\d+)?|\.\d+(?:[eE][+-]?\d+)?)
    |"(?P<text>(?:[^"]|"")*)"
    |(?P<error>\#(?:N/A|NULL!|DIV/0!|VALUE!|REF!|NAME\?|NUM!))
    |(?:(?P<sheet>'(?:[^']|'')+'|[A-Za-z_][\w.]*)!)?
     (?P<area>(?:\$?[A-Za-z]{1,3}\$?\d{1,7}(?::\$?[A-Za-z]{1,3}\$?\d{1,7})?|\$?[A-Za-z]{1,3}:\$?[A-Za-z]{1,3})(?![\w(.]))
    |(?P<name>[A-Za-z_][\w.]*)
    |(?P<sign><>|<=|>=|[-+*/^&=<>(),;%])
    )""",
    re.VERBOSE,
)
_CORNER = re.compile(r"(\$?)([A-Za-z]{1,3})(?:(\$?)(\d{1,7}))?")
_BINDING = {
    "=": 1, "<>": 1, "<": 1, ">": 1, "<=": 1, ">=": 1, "&": 2, "+": 3, "-": 3, "*": 4, "/": 4, "^": 5,
}  # fmt: skip
_ARITHMETIC: dict[str, Callable[[float, float], Any]] = {
    "+": operator.add, "-": operator.sub, "*": operator.mul, "/": operator.truediv, "^": operator.pow,
}  # fmt: skip
_LAST_ROW = 1_048_576


def compile_formula(text: str) -> Node:
    """A parsed formula, to be evaluated at many cells.

    Raises:
        NotUnderstood: it cannot be parsed, or uses an unknown function.
    """
    parser = _Parser(text.strip().removeprefix("="))
    node = parser.expression(0)
    if parser.peek() is not None:
        raise NotUnderstood(f"{text!r} continues after its end")
    return node


def _compute(sign: str, left: Any, right: Any) -> Any:
    if sign == "&":
        return text(left) + text(right)
    if _BINDING[sign] == 1:
        return compare(sign, left, right)
    first, second = number(left), number(right)
    try:
        return float(_ARITHMETIC[sign](first, second))
    except ZeroDivisionError as error:
        raise FormulaError("#DIV/0!") from error
    except (OverflowError, TypeError) as error:
        raise FormulaError("#NUM!") from error


class _Parser:
    """Precedence climbing over the tokens of one formula."""

    def __init__(self, source: str) -> None:
        self._tokens: list[re.Match[str]] = []
        self._at = self._depth = 0
        position = 0
        while position < len(source.rstrip()):
            token = _TOKEN.match(source, position)
            if token is None:
                raise NotUnderstood(f"{source[position:][:20]!r} is invalid")
            self._tokens.append(token)
            position = token.end()

    def peek(self) -> str | None:
        """The next sign, or the word `value` for anything else; None at the end."""
        if self._at >= len(self._tokens):
            return None
        return self._tokens[self._at]["sign"] or "value"

    def expression(self, binding: int) -> Node:
        """Parses up to an operator of lower precedence."""
        self._depth += 1
        if self._depth > MAX_DEPTH:
            raise NotUnderstood("the formula is nested too deeply")
        left = self._operand()
        while (sign := self.peek()) is not None and _BINDING.get(sign, 0) > binding:
            self._at += 1
            left = _binary_node(sign, left, self.expression(_BINDING[sign]))
        self._depth -= 1
        return left

    def _operand(self) -> Node:
        if self.peek() in {"-", "+"}:
            negative = self._advance()["sign"] == "-"
            inner = self.expression(5)
            return (lambda context: -number(scalar(inner(context), context))) if negative else inner
        node = self._value()
        while self.peek() == "%":
            self._at += 1
            node = _binary_node("/", node, lambda _: 100.0)
        return node

    def _value(self) -> Node:
        token = self._advance()
        if token["sign"] == "(":
            node = self.expression(0)
            self._expect(")")
            return node
        if token["number"] is not None:
            value = float(token["number"])
            return lambda _: value
        if token["text"] is not None:
            words = token["text"].replace('""', '"')
            return lambda _: words
        if token["area"] is not None:
            return _area(token["area"], token["sheet"])
        if token["error"] is not None:
            return _error(token["error"])
        return self._parse_call(token["name"] or "")

    def _parse_call(self, name: str) -> Node:
        if self.peek() != "(":
            if name.upper() in {"TRUE", "FALSE"}:
                known = name.upper() == "TRUE"
                return lambda _: known
            raise NotUnderstood(f"the name {name!r} is not supported")
        self._at += 1
        arguments: list[Node] = []
        while self.peek() != ")":
            arguments.append((lambda _: None) if self.peek() in {",", ";"} else self.expression(0))
            if self.peek() in {",", ";"}:
                self._at += 1
            elif self.peek() != ")":
                raise NotUnderstood(f"{name} has no end")
        self._at += 1
        return _function(name.upper().removeprefix("_XLFN."), arguments)

    def _advance(self) -> re.Match[str]:
        if self._at >= len(self._tokens):
            raise NotUnderstood("the formula ends too early")
        self._at += 1
        return self._tokens[self._at - 1]

    def _expect(self, sign: str) -> None:
        if self._advance()["sign"] != sign:
            raise NotUnderstood(f"a {sign!r} is missing")


def _binary_node(sign: str, left: Node, right: Node) -> Node:
    return lambda context: _compute(sign, scalar(left(context), context), scalar(right(context), context))


def _error(reason: str) -> Node:
    def fails(_: FormulaContext) -> Any:
        raise FormulaError(reason)

    return fails


def _function(name: str, arguments: Sequence[Node]) -> Node:
    if name not in FUNCTIONS:
        raise NotUnderstood(f"the function {name} is not supported")
    function, (least, most) = FUNCTIONS[name]
    if not least <= len(arguments) <= most:
        raise NotUnderstood(f"{name} does not take {len(arguments)} arguments")
    return lambda context: function(context, arguments)


def _area(written: str, sheet: str | None) -> Node:
    first, _, last = written.partition(":")
    corners = [_CORNER.fullmatch(first), _CORNER.fullmatch(last or first)]
    name = None if sheet is None else sheet.strip("'").replace("''", "'")
    rows: list[tuple[int, bool]] = []
    columns: list[tuple[int, bool]] = []
    for corner, whole in zip(corners, (1, _LAST_ROW), strict=True):
        if corner is None:
            raise NotUnderstood(f"{written!r} is not an area")
        columns.append((column_number(corner[2]), bool(corner[1])))
        rows.append((int(corner[4]), bool(corner[3])) if corner[4] else (whole, True))

    def moved(context: FormulaContext) -> Area:
        top, bottom = (at if fixed else at + context.down for at, fixed in rows)
        left, right = (at if fixed else at + context.right for at, fixed in columns)
        if min(top, bottom, left, right) < 1:
            raise FormulaError("#REF!")
        return Area((min(top, bottom), min(left, right), max(top, bottom), max(left, right)), name)

    return moved
