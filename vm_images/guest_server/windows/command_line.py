"""Splits and joins command lines on Windows. Pure."""

import subprocess
from collections.abc import Sequence

_QUOTES = "\"'"


def split_words(line: str) -> list[str]:
    r"""Words of a line; quotes of either kind group a word.

    A backslash is part of a path and escapes nothing but a double quote: `"C:\\My Files\\a.txt"` is unchanged.

    Raises:
        ValueError: a quote is not closed.
    """
    words: list[str] = []
    word, quote, in_word = "", "", False
    index = 0
    while index < len(line):
        char = line[index]
        if char == "\\" and line[index + 1 : index + 2] == '"' and quote != "'":
            word, in_word, index = word + '"', True, index + 1
        elif quote:
            word, quote = (word, "") if char == quote else (word + char, quote)
        elif char in _QUOTES:
            quote, in_word = char, True
        elif char.isspace():
            words, word, in_word = ([*words, word], "", False) if in_word else (words, "", False)
        else:
            word, in_word = word + char, True
        index += 1
    if quote:
        raise ValueError("No closing quotation")
    return [*words, word] if in_word else words


def join(words: Sequence[str]) -> str:
    """One line that programs split into these words again."""
    return subprocess.list2cmdline(words)
