"""Alignment of two episodes: which steps correspond, by action, target and screen."""

import math
from collections.abc import Hashable, Sequence
from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    Floats = NDArray[np.float64]

KIND, TARGET, PICTURE = 0.4, 0.3, 0.3
"""Costs of a pair of steps with another action type, another target and another screen."""
GAP = 0.5
"""Cost of a step without a counterpart: two of them cost as much as a pair that differs in everything."""
NEAR = 0.1
"""Distance between two points, as a share of the screen, from which on targets have nothing in common."""
OTHER_SCREEN = 24
"""Bits of the perceptual hash that differ, of 64, from which on screens have nothing in common."""
SAME = 0.15
"""Cost up to which a pair of steps counts as the same."""


class AlignedStep(NamedTuple):
    """Features by which steps are compared.

    Attributes:
        kind: action type.
        target: point in shares of the screen, or a text that is typed or named; None for an action without a target.
        picture: 64-bit perceptual hash of the screen before the action; None if there is no picture.
    """

    kind: str
    target: tuple[float, float] | str | None = None
    picture: int | None = None


class StepPair(NamedTuple):
    """Positions of two corresponding steps, None where a step has no counterpart, and the cost of the pair."""

    first: int | None
    second: int | None
    cost: float

    @property
    def same(self) -> bool:
        return self.cost <= SAME


def align(first: Sequence[AlignedStep], second: Sequence[AlignedStep]) -> list[StepPair]:
    """The alignment of both episodes with the lowest total cost, in order; of equal ones that with the earliest pairs.

    Source: S. B. Needleman and C. D. Wunsch, "A general method applicable to the search for similarities in the amino
    acid sequence of two proteins", J. Mol. Biol. 48 (1970). A row of the table is computed at once: with a constant
    cost of gaps, those within a row are a running minimum.
    """
    import numpy as np

    # From the last steps to the first ones, so that the path is traced from the first steps on.
    costs = step_costs(first, second)[::-1, ::-1]
    offsets = GAP * np.arange(len(second) + 1)
    table = np.empty((len(first) + 1, len(second) + 1))
    table[0] = offsets
    for row in range(len(first)):
        before = table[row]
        best = before + GAP
        best[1:] = np.minimum(best[1:], before[:-1] + costs[row])
        table[row + 1] = np.minimum.accumulate(best - offsets) + offsets
    return _path(table, costs)


def divergence(pairs: Sequence[StepPair]) -> int | None:
    """Position of the first pair that is not the same; None if all are."""
    return next((at for at, pair in enumerate(pairs) if not pair.same), None)


def _path(table: "Floats", costs: "Floats") -> list[StepPair]:
    """The pairs of the cheapest path, traced from the end of the table, which is the start of both episodes."""
    rows, columns = row, column = costs.shape
    pairs = []
    while row or column:
        cost = table[row, column]
        if row and column and math.isclose(cost, table[row - 1, column - 1] + costs[row - 1, column - 1], abs_tol=1e-9):
            row, column = row - 1, column - 1
            pairs.append(StepPair(rows - 1 - row, columns - 1 - column, float(costs[row, column])))
        elif row and math.isclose(cost, table[row - 1, column] + GAP, abs_tol=1e-9):
            row -= 1
            pairs.append(StepPair(rows - 1 - row, None, GAP))
        else:
            column -= 1
            pairs.append(StepPair(None, columns - 1 - column, GAP))
    return pairs


def step_costs(first: Sequence[AlignedStep], second: Sequence[AlignedStep]) -> "Floats":
    """Cost in [0, 1] of each pair of steps, of shape (first, second)."""
    import numpy as np

    codes: dict[Hashable, int] = {}
    kinds, texts = (
        [
            np.array([codes.setdefault(key(step), len(codes)) for step in steps], dtype=np.int64)
            for steps in (first, second)
        ]
        for key in (_kind, _text)
    )
    other_kind = kinds[0][:, None] != kinds[1][None, :]
    other_text = texts[0][:, None] != texts[1][None, :]
    target = np.where(other_text, 1.0, _distances(first, second))
    costs: Floats = KIND * other_kind + TARGET * target + PICTURE * _pictures(first, second)
    return costs


def _kind(step: AlignedStep) -> Hashable:
    return "kind", step.kind


def _text(step: AlignedStep) -> Hashable:
    """Equal for all points, whose distance decides."""
    return "text", "point" if isinstance(step.target, tuple) else step.target, isinstance(step.target, tuple)


def _distances(first: Sequence[AlignedStep], second: Sequence[AlignedStep]) -> "Floats":
    """Distance of points as a share of `NEAR`, at most 1; 0 without two points."""
    import numpy as np

    places = [
        np.array([step.target if isinstance(step.target, tuple) else (math.nan, math.nan) for step in steps]).reshape(
            -1, 2
        )
        for steps in (first, second)
    ]
    apart = places[0][:, None, :] - places[1][None, :, :]
    distances: Floats = np.nan_to_num(np.minimum(np.hypot(apart[..., 0], apart[..., 1]) / NEAR, 1.0), nan=0.0)
    return distances


def _pictures(first: Sequence[AlignedStep], second: Sequence[AlignedStep]) -> "Floats":
    """Difference of screens as a share of `OTHER_SCREEN`, at most 1; without one of the two pictures, 0."""
    import numpy as np

    hashes = [np.array([step.picture or 0 for step in steps], dtype=np.uint64) for steps in (first, second)]
    known = [np.array([step.picture is not None for step in steps], dtype=bool) for steps in (first, second)]
    bits = np.bitwise_count(hashes[0][:, None] ^ hashes[1][None, :])
    shares = np.minimum(bits / OTHER_SCREEN, 1.0) * (known[0][:, None] & known[1][None, :])
    return np.asarray(shares, dtype=np.float64)
