"""Whether a text contains words in order, ignoring case and spacing."""

import re


def plain(text: str) -> str:
    """The text case-folded, with single blanks between words."""
    return " ".join(text.casefold().split())


def says(text: str, phrase: str) -> bool:
    """Whether the text contains the expected whole words: `Save` is in `Save as...`, not in `Saved`."""
    words = re.escape(plain(phrase))
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", plain(text)) is not None
