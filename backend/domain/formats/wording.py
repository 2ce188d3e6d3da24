"""Whether a text says something: the words in their order, whatever their case and the blanks between them."""

import re


def plain(text: str) -> str:
    """Without a difference of case, with one blank between words."""
    return " ".join(text.casefold().split())


def says(text: str, phrase: str) -> bool:
    """True if the wanted words are in the text as whole words: `Save` is in `Save as...`, not in `Saved`."""
    words = re.escape(plain(phrase))
    return bool(words) and re.search(rf"(?<!\w){words}(?!\w)", plain(text)) is not None
