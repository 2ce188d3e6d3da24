"""Syntax check of PowerShell scripts without PowerShell.

A tokeniser and a few grammar rules: strings, here-strings, comments, brackets, what must follow a keyword, and what
Windows PowerShell 5.1 lacks. It accepts some invalid scripts; what it rejects is invalid. Language:
https://learn.microsoft.com/powershell/scripting/lang-spec/chapter-02
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

_CLOSING = {"{": "}", "(": ")", "[": "]"}
_OPENERS = ("@{", "@(", "$(", "${", "{", "(", "[")
_NEEDS_PARENTHESIS = frozenset({"if", "elseif", "while", "foreach", "switch", "for", "param"})
_NEEDS_BLOCK = frozenset({"try", "catch", "finally", "else", "do", "begin", "process", "end"})
_ONLY_LATER = {"&&": "&&", "||": "||", "??": "??", "?.": "?.", "==": "==", "!=": "!="}
_WORD = re.compile(r"[A-Za-z_][\w-]*")
_VARIABLE = re.compile(r"\$(?:\{[^}\n]*\}|[A-Za-z_?$^][\w:]*|\d+)|@[A-Za-z_]\w*")
_BLANK = frozenset(" \t\r\n")
_BEFORE_COMMENT = _BLANK | frozenset("(){}[];,|&=")


class Token(NamedTuple):
    """A token: `word`, `mark`, `text` or `variable`, with its line number."""

    kind: str
    text: str
    line: int


class Unparsable(ValueError):
    """The script ends or fails inside a token."""


def faults(script: str) -> list[str]:
    """Syntax errors with line numbers; empty if none were found."""
    problems = [
        f"line {number}: {character!r} is not ASCII: Windows PowerShell reads it in the machine's code page"
        for number, line in enumerate(script.splitlines(), start=1)
        for character in line[:2000]
        if not character.isascii()
    ]
    try:
        tokens = list(_Reader(script).tokens())
    except Unparsable as error:
        return [*problems, str(error)]
    return [*problems, *_brackets(tokens), *_grammar(tokens)]


class _Reader:
    """Splits a script into tokens. Code inside double-quoted strings has a reader of its own."""

    def __init__(self, script: str, *, line: int = 1) -> None:
        self._script = script.replace("\r\n", "\n")
        self._at = 0
        self._line = line

    def tokens(self) -> Iterator[Token]:
        while self._at < len(self._script):
            yield from self._next()

    def _next(self) -> Iterator[Token]:
        character, line = self._script[self._at], self._line
        if character in _BLANK:
            self._skip(1)
        elif self._sees("<#"):
            self._until("#>", "comment is not closed")
        elif character == "#" and (self._at == 0 or self._script[self._at - 1] in _BEFORE_COMMENT):
            self._to_line_end()
        elif character == "`":
            self._continuation()
        elif self._sees("@'") or self._sees('@"'):
            yield from self._here_string()
        elif character == "'":
            yield self._single()
        elif character == '"':
            yield from self._double()
        elif match := _VARIABLE.match(self._script, self._at):
            self._skip(len(match.group()))
            yield Token("variable", match.group(), line)
        elif match := _WORD.match(self._script, self._at):
            self._skip(len(match.group()))
            yield Token("word", match.group(), line)
        else:
            yield self._mark()

    def _mark(self) -> Token:
        line = self._line
        text = next(
            (character for character in (*_OPENERS, *_ONLY_LATER) if self._sees(character)), self._script[self._at]
        )
        self._skip(len(text))
        return Token("mark", text, line)

    def _single(self) -> Token:
        line = self._line
        match = re.compile(r"'(?:[^']|'')*'").match(self._script, self._at)
        if match is None:
            raise Unparsable(f"line {line}: single-quoted string is not closed")
        self._skip(len(match.group()))
        return Token("text", match.group(), line)

    def _double(self) -> Iterator[Token]:
        line, begin = self._line, self._at
        self._skip(1)
        while not self._sees('"') or self._sees('""'):
            if self._at >= len(self._script):
                raise Unparsable(f"line {line}: double-quoted string is not closed")
            if self._sees("$("):
                yield from self._inner()
            else:
                self._skip(2 if self._sees("`") or self._sees('""') else 1)
        self._skip(1)
        yield Token("text", self._script[begin : self._at], line)

    def _inner(self) -> Iterator[Token]:
        """Tokens of `$( ... )` inside a string, up to its closing bracket."""
        depth, line = 0, self._line
        while self._at < len(self._script):
            for token in self._next():
                yield token
                if token.kind == "mark":
                    depth += (token.text in _OPENERS) - (token.text in _CLOSING.values())
            if depth == 0:
                return
        raise Unparsable(f"line {line}: $( in a string is not closed")

    def _here_string(self) -> Iterator[Token]:
        line, quote = self._line, self._script[self._at + 1]
        head = re.compile(r"@['\"][ \t]*\n").match(self._script, self._at)
        if head is None:
            raise Unparsable(f"line {line}: text after @{quote} on the same line")
        end = self._script.find(f"\n{quote}@", head.end() - 1)
        if end < 0:
            raise Unparsable(f"line {line}: here-string is not closed by {quote}@ at the beginning of a line")
        text = self._script[self._at : end + 3]
        if quote == '"':
            for inner in re.finditer(r"(?<!`)\$\((?:[^()]|\([^()]*\))*\)", text):
                yield from _Reader(inner.group(), line=line + text[: inner.start()].count("\n")).tokens()
        self._skip(len(text))
        yield Token("text", text, line)

    def _continuation(self) -> None:
        line = self._script[self._at + 1 :].split("\n", 1)[0]
        if line and not line.strip():
            raise Unparsable(f"line {self._line}: spaces after the line continuation `")
        self._skip(2)

    def _until(self, end: str, problem: str) -> None:
        position = self._script.find(end, self._at)
        if position < 0:
            raise Unparsable(f"line {self._line}: {problem}")
        self._skip(position + len(end) - self._at)

    def _to_line_end(self) -> None:
        end = self._script.find("\n", self._at)
        self._skip((len(self._script) if end < 0 else end) - self._at)

    def _sees(self, text: str) -> bool:
        return self._script.startswith(text, self._at)

    def _skip(self, count: int) -> None:
        self._line += self._script.count("\n", self._at, self._at + count)
        self._at += count


def _brackets(tokens: list[Token]) -> Iterator[str]:
    opened: list[Token] = []
    for token in tokens:
        if token.kind != "mark":
            continue
        if token.text in _OPENERS:
            opened.append(token)
        elif token.text in _CLOSING.values():
            if not opened or _CLOSING[opened[-1].text[-1]] != token.text:
                yield f"line {token.line}: unexpected {token.text}"
                return
            opened.pop()
    yield from (f"line {token.line}: {token.text} is not closed" for token in opened)


def _grammar(tokens: list[Token]) -> Iterator[str]:
    for number, token in enumerate(tokens):
        following = tokens[number + 1].text if number + 1 < len(tokens) else ""
        before = tokens[number - 1].text if number else ""
        if token.kind == "mark" and token.text in _ONLY_LATER:
            yield f"line {token.line}: Windows PowerShell 5.1 has no {token.text}"
        if token.kind != "word" or before in {".", "-", "::"}:
            continue
        word = token.text.lower()
        if word in _NEEDS_PARENTHESIS and following != "(" and not (word == "switch" and following == "-"):
            yield f"line {token.line}: ( expected after {word}"
        elif word in _NEEDS_BLOCK and following not in {"{", "["} and before not in {"$", "="}:
            yield f"line {token.line}: block expected after {word}"
        elif word in {"function", "filter"} and not _is_function(tokens[number + 1 : number + 3]):
            yield f"line {token.line}: name and block expected after {word}"
        elif word == "try" and _after_block(tokens, number + 1) not in {"catch", "finally"}:
            yield f"line {token.line}: try without catch or finally"


def _is_function(tokens: list[Token]) -> bool:
    return [token.kind for token in tokens[:1]] == ["word"] and [token.text for token in tokens[1:]] in (["{"], ["("])


def _after_block(tokens: list[Token], start: int) -> str:
    depth = 0
    for number in range(start, len(tokens)):
        if tokens[number].kind == "mark":
            depth += (tokens[number].text in _OPENERS) - (tokens[number].text in _CLOSING.values())
        if depth == 0:
            return tokens[number + 1].text.lower() if number + 1 < len(tokens) else ""
    return ""
