"""The sign-flip permutation test of paired differences."""

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

MOST_EXACT = 20
"""Differences that are not 0, up to which all 2^n patterns of signs are counted."""
FLIPS = 9_999
_CLOSE = 1e-9


class SignFlip(NamedTuple):
    """Result of the test.

    Attributes:
        two_sided, less, greater: p-values in (0, 1], against any mean but 0, a negative and a positive one.
        exact: every pattern of signs was counted, none was drawn.
    """

    two_sided: float
    less: float
    greater: float
    exact: bool


def sign_flip(differences: Sequence[float], *, flips: int = FLIPS, seed: int = 0) -> SignFlip:
    """Tests whether the mean of paired differences is 0: under that hypothesis each sign is as likely as the other.

    Exact for up to `MOST_EXACT` differences that are not 0, and for any number of them with one magnitude, where it is
    the sign test (for one 0/1 trial per task, McNemar's exact test). Else `flips` patterns are drawn, with the one that
    was observed counted among them, so that p is never 0.

    Sources: R. A. Fisher, "The design of experiments" (1935), section 21; B. Phipson and G. K. Smyth, "Permutation
    p-values should never be zero", Stat. Appl. Genet. Mol. Biol. 9 (2010), for the draws.

    Args:
        differences: one per task; several passes of a task are averaged before, as they are not independent.
        flips: draws, where counting is too long.
        seed: of the draws.
    """
    values = sorted((value for value in differences if value), key=abs)
    if not values:
        return SignFlip(1.0, 1.0, 1.0, exact=True)
    if abs(values[-1]) - abs(values[0]) <= _CLOSE * abs(values[-1]):
        return _sign_test(sum(value > 0 for value in values), len(values))
    counted = len(values) <= MOST_EXACT
    sums = _all_sums(values) if counted else _drawn_sums(values, flips, seed)
    total, margin = math.fsum(values), _CLOSE * math.fsum(map(abs, values))
    more = 0 if counted else 1
    extremes = (abs(sums) >= abs(total) - margin, sums <= total + margin, sums >= total - margin)
    two_sided, less, greater = ((int(hits.sum()) + more) / (len(sums) + more) for hits in extremes)
    return SignFlip(two_sided, less, greater, exact=counted)


def _sign_test(positive: int, n: int) -> SignFlip:
    """Binomial tails: `positive` of n or fewer, and or more; two-sided, twice the smaller one."""
    less, greater = fair_tail(positive, n), fair_tail(n - positive, n)
    return SignFlip(min(1.0, 2 * less, 2 * greater), less, greater, exact=True)


def fair_tail(most: int, n: int) -> float:
    """Probability of at most `most` heads among n tosses of a fair coin, exact; 10,000 tosses take some 20 ms."""
    ways, binomial = 0, 1
    for heads in range(most + 1):
        ways += binomial
        binomial = binomial * (n - heads) // (heads + 1)
    return ways / (1 << n)


def _all_sums(values: Sequence[float]) -> "NDArray[np.float64]":
    """The sums of all 2^n patterns of signs."""
    import numpy as np

    sums = np.zeros(1)
    for value in values:
        sums = np.concatenate([sums + value, sums - value])
    return sums


def _drawn_sums(values: Sequence[float], flips: int, seed: int) -> "NDArray[np.float64]":
    """The sums of `flips` drawn patterns: a random byte has the signs of eight values, whose sums are looked up."""
    import numpy as np

    columns = -(-len(values) // 8)
    magnitudes = np.zeros(columns * 8)
    magnitudes[: len(values)] = np.abs(values)
    signs = 2.0 * np.unpackbits(np.arange(256, dtype=np.uint8)[:, None], axis=1) - 1.0
    table = signs @ magnitudes.reshape(columns, 8).T
    drawn = np.random.default_rng((seed, len(values))).integers(0, 256, size=(flips, columns))
    sums: NDArray[np.float64] = table[drawn, np.arange(columns)].sum(axis=1)
    return sums
