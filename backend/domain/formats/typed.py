"""Typed texts from a log of interactions."""

import re
from collections.abc import Collection, Mapping, Sequence
from types import MappingProxyType
from typing import Any

_CHARACTERS: Mapping[str, str] = MappingProxyType({"{enter}": "\n", "{tab}": "\t", "{space}": " "})
_BACK = "{backspace}"
_KEY = re.compile(r"\{[^{}\s]{1,60}\}")


def join_typing(typed: Sequence[Mapping[str, Any]], clicks: Collection[int]) -> tuple[list[str], list[str]]:
    """Texts typed without interruption, and keys that produce no text, in order.

    A click or a key that moves the text cursor ends a text; Return, Tab and Backspace do not.

    Args:
        typed: entries of the log, with `number` and `text`.
        clicks: numbers of the entries that are clicks.
    """
    texts, keys, last = [""], [], 0
    for entry in typed:
        text, number = str(entry.get("text", "")), int(entry.get("number", 0))
        if any(last < click < number for click in clicks):
            texts.append("")
        last = number
        if text == _BACK:
            texts[-1] = texts[-1][:-1]
        elif text in _CHARACTERS:
            texts[-1] += _CHARACTERS[text]
        elif not _KEY.fullmatch(text):
            texts[-1] += text
        else:
            texts.append("")
        if _KEY.fullmatch(text):
            keys.append(text)
    return [text for text in texts if text], keys


def expand_keys(text: str) -> str:
    """An expected text with key names replaced by their characters; a single key is unchanged: `{enter}`."""
    if _KEY.fullmatch(text):
        return text.lower()
    for name, character in _CHARACTERS.items():
        text = text.replace(name, character)
    return text.replace("\r\n", "\n")
