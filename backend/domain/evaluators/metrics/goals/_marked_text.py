"""Texts that are marked, such as bold: one rule for all kinds of documents."""

import re
from collections.abc import Sequence


def has_marked(text: str, whole: str, marks: Sequence[bool]) -> bool:
    """Whether some occurrence of the text, overlapping ones included, is marked throughout.

    Args:
        text: what is searched for; one of blanks only is never marked.
        whole: where.
        marks: whether each character of `whole` is marked. That of a blank does not matter.
    """
    starts = (match.start() for match in re.finditer(f"(?={re.escape(text)})", whole))
    letters = [mark or letter.isspace() for letter, mark in zip(whole, marks, strict=True)]
    return text.strip() != "" and any(all(letters[start : start + len(text)]) for start in starts)
