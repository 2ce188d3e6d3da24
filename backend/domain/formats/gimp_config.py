"""Reads GIMP's settings (`gimprc`, `sessionrc`, `action-history`): lists in parentheses, comments after `#`."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

_WORD = re.compile(r'#[^\n]*|[()]|"(?:\\.|[^"\\])*"|[^\s()"#]+|"')
MAX_DEPTH = 200
MAX_WORDS = 16


@dataclass(slots=True)
class ConfigList:
    """One list with the words of nested lists, as written (texts keep their quotes).

    Attributes:
        words: the first 16.
        last: the last one.
    """

    words: list[str] = field(default_factory=list)
    last: str = ""

    def add(self, *words: str, last: str) -> None:
        self.words += words[: MAX_WORDS - len(self.words)]
        self.last = last or self.last


def read_entries(text: str) -> list[ConfigList]:
    """All lists of a settings file, in the order of their ends; unclosed ones end with the file."""
    nested: list[ConfigList] = []
    entries: list[ConfigList] = []
    for word in _words(text):
        if word == "(":
            if len(nested) >= MAX_DEPTH:
                break
            nested.append(ConfigList())
        elif word == ")":
            _close(nested, entries)
        elif nested:
            nested[-1].add(word, last=word)
    while nested:
        _close(nested, entries)
    return entries


def _close(nested: list[ConfigList], entries: list[ConfigList]) -> None:
    if nested:
        entries.append(nested.pop())
        if nested:
            nested[-1].add(*entries[-1].words, last=entries[-1].last)


def _words(text: str) -> Iterator[str]:
    """Words, parentheses and quoted texts. Comments and unclosed quotes are left out."""
    return (word[0] for word in _WORD.finditer(text) if not word[0].startswith("#") and word[0] != '"')
