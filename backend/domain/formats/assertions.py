r"""Parses textual assertions of a task's author, `file_exists("...") && !window_active("...")`, without eval.

A small grammar of its own: calls of known facts with literal arguments, joined by `&&`, `||`, `!` (or the words), and
compared with `true`, `false` or a pair of numbers. Anything else is rejected by name. Format: WindowsWorld's
`assertions`, benchmark-formats reference, section 1.3.
"""

import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field

from backend.domain.errors import Invalid

Literal = str | float | bool | tuple[float, ...]
MAX_CHARACTERS = 4000
MAX_DEPTH = 20

PASSING = frozenset({"window_active", "application_running", "clipboard_contains", "browser_url_matches"})
"""Facts about a moment, which may hold during the episode only. The others are about files."""

_TOKEN = re.compile(
    r"""\s*(?:(?P<text>"(?:[^"\\]|\\.)*")|(?P<number>-?\d+(?:\.\d+)?)|(?P<word>[A-Za-z_]\w*)"""
    r"""|(?P<sign>&&|\|\||==|!=|[!(),=]))""",
    re.DOTALL,
)
_PATTERN = re.compile(r"\\d|\[0-9\]|\.\*")
_SAME_AS = {
    "folder_exists": "file_exists",
    "image_resolution_is": "image_size",
    "image_size_equals": "image_size",
    "image_dimensions_match": "image_size",
    "file_contains_regex": "file_contains",
    "clipboard_contains_regex": "clipboard_contains",
}
_TAKES: dict[str, tuple[type, ...]] = {
    "file_exists": (str,),
    "file_exists_in_folder": (str, str),
    "file_contains": (str, str),
    "image_size": (str, float, float),
    "window_active": (str,),
    "application_running": (str,),
    "clipboard_contains": (str,),
    "browser_url_matches": (str,),
}


@dataclass(frozen=True)
class AssertionFact:
    """One fact, true or false.

    Attributes:
        name: one of `file_exists`, `file_contains`, `image_size`, `window_active`, `application_running`,
            `clipboard_contains`, `browser_url_matches`.
        args: its literals; for a fact about a file, the path comes first.
        pattern: whether the expected text is a regular expression.
        where: for a workbook, sheet and cell of the text.
    """

    name: str
    args: tuple[Literal, ...]
    pattern: bool = False
    where: tuple[str, str] | None = None

    @property
    def text(self) -> str:
        return str(self.args[0])


@dataclass(frozen=True)
class Formula:
    """A formula over facts: `op` is `fact`, `not`, `and` or `or`."""

    op: str
    fact: AssertionFact | None = None
    parts: tuple["Formula", ...] = field(default=())

    def facts(self) -> Iterator[AssertionFact]:
        """All facts, from left to right."""
        if self.fact is not None:
            yield self.fact
        for part in self.parts:
            yield from part.facts()

    def holds(self, is_true: Callable[[AssertionFact], bool]) -> bool:
        """Evaluates the formula, given the facts' values."""
        if self.fact is not None:
            return is_true(self.fact)
        if self.op == "not":
            return not self.parts[0].holds(is_true)
        return (all if self.op == "and" else any)([part.holds(is_true) for part in self.parts])

    @property
    def passing(self) -> bool:
        """Whether to check it during the episode: it has a fact about a moment, and none of those is negated.

        A negated moment is known at the end only.
        """
        moments = [fact for fact in self.facts() if fact.name in PASSING]
        return bool(moments) and not any(fact.name in PASSING for fact in self.denied())

    def denied(self, *, turned: bool = False) -> Iterator[AssertionFact]:
        """The negated facts."""
        if self.fact is not None and turned:
            yield self.fact
        for part in self.parts:
            yield from part.denied(turned=turned != (self.op == "not"))


def parse(text: str) -> Formula:
    """Reads one assertion.

    Raises:
        Invalid: it is not valid, or it names an unsupported fact; the message says which.
    """
    if len(text) > MAX_CHARACTERS:
        raise Invalid(f"an assertion has at most {MAX_CHARACTERS} characters", code="invalid_assertion")
    reader = _Reader(list(_tokens(text)))
    formula = reader.either(0)
    if reader.left:
        raise Invalid(f"{reader.left!r} follows the end of the assertion", code="invalid_assertion")
    return formula


def _tokens(text: str) -> Iterator[tuple[str, str]]:
    position = 0
    while text[position:].strip():
        match = _TOKEN.match(text, position)
        if match is None:
            raise Invalid(f"{text[position:].strip()[:30]!r} is not part of an assertion", code="invalid_assertion")
        position = match.end()
        yield str(match.lastgroup), match.group(str(match.lastgroup))


_WORDS = {"or": "||", "and": "&&", "not": "!"}


class _Reader:
    """Recursive descent over the tokens."""

    def __init__(self, tokens: list[tuple[str, str]]) -> None:
        self._tokens = tokens
        self._at = 0

    @property
    def left(self) -> str:
        """The next token, empty at the end."""
        return self._tokens[self._at][1] if self._at < len(self._tokens) else ""

    def either(self, depth: int) -> Formula:
        return self._parse_chain(
            "||", "or", lambda: self._parse_chain("&&", "and", lambda: self._parse_negation(depth))
        )

    def _parse_chain(self, sign: str, op: str, part: Callable[[], Formula]) -> Formula:
        parts = [part()]
        while self._accept(sign):
            parts.append(part())
        return parts[0] if len(parts) == 1 else Formula(op, parts=tuple(parts))

    def _parse_negation(self, depth: int) -> Formula:
        if depth > MAX_DEPTH:
            raise Invalid(f"it is nested more than {MAX_DEPTH} deep", code="invalid_assertion")
        if self._accept("!"):
            return Formula("not", parts=(self._parse_negation(depth + 1),))
        if self._accept("("):
            inner = self.either(depth + 1)
            self._expect(")")
            return self._parse_comparison(inner)
        return self._call()

    def _parse_comparison(self, formula: Formula) -> Formula:
        sign = "==" if self._accept("==") else "!=" if self._accept("!=") else ""
        if not sign:
            return formula
        value = self._literal()
        if not isinstance(value, bool):
            raise Invalid(f"a fact is true or false, not {value!r}", code="invalid_assertion")
        return formula if value is (sign == "==") else Formula("not", parts=(formula,))

    def _call(self) -> Formula:
        kind, name = self._next()
        if kind != "word" or self.left != "(":
            raise Invalid(f"{name!r} is not a fact", code="invalid_assertion")
        self._expect("(")
        args: list[Literal] = []
        options: dict[str, Literal] = {}
        while self.left != ")":
            self._argument(name, args, options)
            if not self._accept(","):
                break
        self._expect(")")
        if name == "image_dimensions" and self._accept("=="):
            size = self._literal()
            args += list(size) if isinstance(size, tuple) else [size]
            name = "image_size"
        return self._parse_comparison(Formula("fact", _fact(name, tuple(args), options)))

    def _argument(self, name: str, args: list[Literal], options: dict[str, Literal]) -> None:
        word = self._tokens[self._at] if self._at < len(self._tokens) else ("", "")
        if word[0] == "word" and word[1].lower() not in {"true", "false"}:
            self._at += 1
            if not self._accept("="):
                raise Invalid(f"{name} takes literals, and {word[1]!r} is not one", code="invalid_assertion")
            options[word[1]] = self._literal()
        else:
            args.append(self._literal())

    def _literal(self) -> Literal:
        if self._accept("("):
            numbers = [self._number()]
            while self._accept(","):
                numbers.append(self._number())
            self._expect(")")
            return tuple(numbers)
        kind, text = self._next()
        if kind == "text":
            return _unescape(text)
        if kind == "number":
            return float(text)
        if text.lower() in {"true", "false"}:
            return text.lower() == "true"
        raise Invalid(f"{text!r} is not a literal", code="invalid_assertion")

    def _number(self) -> float:
        value = self._literal()
        if not isinstance(value, float):
            raise Invalid(f"{value!r} is not a number", code="invalid_assertion")
        return value

    def _next(self) -> tuple[str, str]:
        if self._at >= len(self._tokens):
            raise Invalid("the assertion ends too early", code="invalid_assertion")
        self._at += 1
        return self._tokens[self._at - 1]

    def _accept(self, sign: str) -> bool:
        if self._at < len(self._tokens):
            kind, text = self._tokens[self._at]
            if (kind == "sign" and text == sign) or (kind == "word" and _WORDS.get(text.lower()) == sign):
                self._at += 1
                return True
        return False

    def _expect(self, sign: str) -> None:
        if not self._accept(sign):
            raise Invalid(f"expected {sign!r}, found {self.left or 'the end'!r}", code="invalid_assertion")


def _unescape(text: str) -> str:
    r"""The text between the quotes. Authors double backslashes or not, so `\\\\` and `\\` are equal in paths."""
    return text[1:-1].replace('\\"', '"').replace("\\\\", "\\")


def _fact(name: str, args: tuple[Literal, ...], options: dict[str, Literal]) -> AssertionFact:
    plain = _SAME_AS.get(name, name)
    if plain not in _TAKES:
        raise Invalid(f"there is no check of {name!r}", code="invalid_assertion")
    takes = _TAKES[plain]
    if len(args) != len(takes) or not all(isinstance(arg, kind) for arg, kind in zip(args, takes, strict=True)):
        raise Invalid(f"{name} does not take {', '.join(map(repr, args)) or 'nothing'}", code="invalid_assertion")
    where = None
    if plain == "file_contains" and set(options) == {"sheet", "cell"}:
        where = (str(options["sheet"]), str(options["cell"]))
    elif options:
        raise Invalid(f"{name} has no option {next(iter(options))!r}", code="invalid_assertion")
    if plain == "file_exists_in_folder":
        return AssertionFact("file_exists", (f"{args[0]}\\{args[1]}",))
    looked_for = str(args[-1]) if plain in {"file_contains", "clipboard_contains", "browser_url_matches"} else ""
    pattern = name.endswith("_regex") or bool(_PATTERN.search(looked_for))
    if pattern:
        _compiles(name, looked_for)
    return AssertionFact(plain, args, pattern=pattern, where=where)


def _compiles(name: str, pattern: str) -> None:
    try:
        re.compile(pattern)
    except re.error as error:
        raise Invalid(f"{name} has an invalid pattern: {error}", code="invalid_assertion") from error
