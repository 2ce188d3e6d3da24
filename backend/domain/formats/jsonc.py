"""Reads the JSON dialect of VS Code: with comments and trailing commas."""

import json
import re
from collections.abc import Iterator
from typing import Any

# Strings and comments without an end reach to the end of the file, so that none is looked through twice. No possessive
# groups: Python before 3.11.5 matches those that hold a choice wrongly.
_STRING = r'"[^"\\]*(?:\\(?:.|\Z)[^"\\]*)*(?:"|\Z)'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)

_TOKEN = re.compile(rf"{_STRING}|[{{}}\[\]:,]|[^\s{{}}\[\]:,\"]+")
_SIGNS = {"", "}", "]", ":", ","}
_NOTHING: Any = object()


def parse_jsonc(text: str, *, plain: bool = False) -> tuple[Any, str]:
    """The value of a text, or the reason why there is none: (value, "") or (None, reason).

    Args:
        text: the content of a file.
        plain: accept standard JSON only.
    """
    if not plain:
        text = _COMMENT.sub(lambda match: match.group(1) or " ", text)
        text = _COMMA.sub(lambda match: match.group(1) or "", text)
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, f"the file is not JSON: {str(error)[:200]}"


def parse_broken_jsonc(text: str) -> tuple[Any, str]:
    """Like `parse_jsonc`; of a text with errors, what VS Code still reads of its settings.

    It ignores surplus commas, does without missing ones, and closes at the end what is open. Source: `parseObject` and
    `parseArray` of its `json.ts`.
    """
    value, reason = parse_jsonc(text)
    if not reason:
        return value, ""
    tokens = _TOKEN.findall(_COMMENT.sub(lambda match: match.group(1) or " ", text))
    if tokens[:1] not in (["{"], ["["]):
        return None, reason
    try:
        return _BrokenText(tokens).value(), ""
    except RecursionError:
        return None, reason


class _BrokenText:
    """Reads the tokens of a text with errors."""

    def __init__(self, tokens: list[str]) -> None:
        self._tokens, self._at = tokens, 0

    def value(self) -> Any:
        """The next value, `_NOTHING` if the next token begins none."""
        word = self._peek()
        if word == "{":
            return dict(self._entries("}"))
        if word == "[":
            return [value for _, value in self._entries("]")]
        if word in _SIGNS:
            return _NOTHING
        self._at += 1
        try:
            return json.loads(word)
        except ValueError:
            return _NOTHING

    def _peek(self) -> str:
        return self._tokens[self._at] if self._at < len(self._tokens) else ""

    def _entries(self, end: str) -> Iterator[tuple[str, Any]]:
        """The entries of an object, or of a list, whose names are empty."""
        self._at += 1
        while self._peek() not in {end, ""}:
            name = self._name() if end == "}" else ""
            value = _NOTHING if name is None else self.value()
            if value is not _NOTHING:
                yield str(name), value
            elif self._peek() not in {end, ""}:
                self._at += 1
        self._at += 1

    def _name(self) -> str | None:
        name = self._peek()
        if not name.startswith('"') or self._tokens[self._at + 1 : self._at + 2] != [":"]:
            return None
        self._at += 2
        try:
            return str(json.loads(name))
        except ValueError:
            return None
