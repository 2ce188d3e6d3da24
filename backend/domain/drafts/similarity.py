"""Similarity of two instructions, to find near-duplicates before review.

WindowsWorld rejects a task whose cosine similarity to another is above 0.85 (protocols reference, section 7); its paper
compares embeddings. Here the vectors count words and pairs of neighbouring words (shingles), so that no model is needed
and the result is deterministic.
"""

import math
import re
import unicodedata
from collections import Counter
from collections.abc import Iterable, Mapping
from itertools import pairwise

NEAR = 0.85
_WORD = re.compile(r"\w+")


def shingles(text: str) -> Counter[str]:
    """Words and word pairs with their counts; case, Unicode composition and punctuation are ignored."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return Counter([*words, *(f"{first} {second}" for first, second in pairwise(words))])


def cosine(first: Mapping[str, int], second: Mapping[str, int]) -> float:
    """Cosine of the angle between two vectors of counts, in [0, 1]; 0 if one of them is empty."""
    small, large = sorted((first, second), key=len)
    shared = sum(count * large.get(word, 0) for word, count in small.items())
    norms = math.sqrt(sum(n * n for n in first.values()) * sum(n * n for n in second.values()))
    return min(1.0, shared / norms) if norms else 0.0


def near_duplicates(text: str, other_texts: Iterable[tuple[str, str]], *, most: int = 5) -> list[tuple[str, float]]:
    """Those of `others` that are too similar to `text`, most similar first.

    Args:
        text: an instruction.
        other_texts: (name, instruction).
        most: maximum number of results.

    Returns:
        (name, cosine), each cosine at least `NEAR`.
    """
    vector = shingles(text)
    alike = ((name, cosine(vector, shingles(other_text))) for name, other_text in other_texts)
    matches = [(name, value) for name, value in alike if value >= NEAR]
    return sorted(matches, key=lambda pair: (-pair[1], pair[0]))[:most]
