"""FastDTW (Salvador and Chan 2007, radius 1): aligns two series of vectors in linear time and memory."""

from typing import Any

RADIUS = 1
_DOWN, _RIGHT, _BOTH = 0, 1, 2  # predecessor of a cell: previous row, previous column, or both


def aligned_distance(first: Any, second: Any) -> tuple[float, int]:
    """The sum of cosine distances along the alignment, and its number of pairs.

    Args:
        first: shape (n, d), n > 0.
        second: shape (m, d), m > 0.
    """
    cost, path = _fast(first, second)
    return cost, len(path)


def _fast(first: Any, second: Any) -> tuple[float, list[tuple[int, int]]]:
    rows, columns = len(first), len(second)
    if min(rows, columns) < RADIUS + 2:
        return _align(first, second, [(0, columns - 1)] * rows)
    _, path = _fast(_halve(first), _halve(second))
    return _align(first, second, _window(path, rows, columns))


def _halve(series: Any) -> Any:
    even = len(series) // 2 * 2
    return (series[0:even:2] + series[1:even:2]) / 2


def _window(path: list[tuple[int, int]], rows: int, columns: int) -> list[tuple[int, int]]:
    """The columns of each row near the path at half the resolution."""
    coarse = path[-1][0] + 1
    low, high = [columns] * (coarse + 2 * RADIUS), [0] * (coarse + 2 * RADIUS)
    for row, column in path:
        for near in range(row, row + 2 * RADIUS + 1):  # Rows are shifted by the radius: there is one above the first.
            low[near] = min(low[near], column - RADIUS)
            high[near] = max(high[near], column + RADIUS)
    spans = ((low[row // 2 + RADIUS], high[row // 2 + RADIUS]) for row in range(rows))
    return [(max(0, 2 * left), min(columns - 1, 2 * right + 1)) for left, right in spans]


def _align(first: Any, second: Any, window: list[tuple[int, int]]) -> tuple[float, list[tuple[int, int]]]:
    """The cheapest path from corner to corner inside the window."""
    import numpy as np

    left, right = _unit(first), _unit(second)
    infinite = float("inf")
    before, before_low = [0.0], -1  # the cell before the first one
    steps: list[bytearray] = []
    for row, (low, high) in enumerate(window):
        distances = np.clip(1.0 - right[low : high + 1] @ left[row], 0.0, 2.0).tolist()
        costs, row_steps, last = [], bytearray(), infinite
        size = len(before)
        for offset, distance in enumerate(distances):
            index = low + offset - before_low
            above = before[index] if 0 <= index < size and row else infinite
            corner = before[index - 1] if 0 < index <= size else infinite
            best, step = above, _DOWN
            if last < best:
                best, step = last, _RIGHT
            if corner < best:
                best, step = corner, _BOTH
            last = best + distance
            costs.append(last)
            row_steps.append(step)
        steps.append(row_steps)
        before, before_low = costs, low
    return before[-1], _back(steps, window)


def _back(steps: list[bytearray], window: list[tuple[int, int]]) -> list[tuple[int, int]]:
    row, column = len(window) - 1, window[-1][1]
    path = [(row, column)]
    while row or column:
        step = steps[row][column - window[row][0]]
        row, column = row - (step != _RIGHT), column - (step != _DOWN)
        path.append((row, column))
    return path[::-1]


def _unit(series: Any) -> Any:
    """Vectors of length 1; a zero vector stays zero, at a right angle to all others."""
    import numpy as np

    lengths = np.linalg.norm(series, axis=1, keepdims=True)
    return np.divide(series, lengths, out=np.zeros_like(series), where=lengths > 0)
