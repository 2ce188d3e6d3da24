"""How alike two instructions are: near-duplicates are found before a person reads them.

WindowsWorld rejects a task whose cosine similarity to another is above 0.85 (protocols reference, section 7); its paper
compares embeddings. Here the vectors count words and pairs of neighbouring words (shingles), so that no model is
needed and the same two texts always give the same number.
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
    """Words and pairs of neighbouring words with their counts; case, accents' composition and punctuation aside."""
    words = _WORD.findall(unicodedata.normalize("NFKC", text).casefold())
    return Counter([*words, *(f"{first} {second}" for first, second in pairwise(words))])


def cosine(one: Mapping[str, int], other: Mapping[str, int]) -> float:
    """Cosine of the angle between two vectors of counts, in [0, 1]; 0 where one of them is empty."""
    small, large = sorted((one, other), key=len)
    shared = sum(count * large.get(word, 0) for word, count in small.items())
    norms = math.sqrt(sum(n * n for n in one.values()) * sum(n * n for n in other.values()))
    return min(1.0, shared / norms) if norms else 0.0


def near_duplicates(text: str, others: Iterable[tuple[str, str]], *, most: int = 5) -> list[tuple[str, float]]:
    """Those of `others` that are too like `text`, most alike first.

    Args:
        text: an instruction.
        others: (name, instruction).
        most: how many at most.

    Returns:
        (name, cosine), each cosine at least `NEAR`.
    """
    vector = shingles(text)
    alike = ((name, cosine(vector, shingles(other))) for name, other in others)
    matches = [(name, value) for name, value in alike if value >= NEAR]
    return sorted(matches, key=lambda pair: (-pair[1], pair[0]))[:most]
