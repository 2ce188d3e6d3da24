"""Structural similarity of two gray pictures, as scikit-image computes it, in strips that need little memory."""

from typing import Any

WINDOW = 7
STRIP = 512  # rows at a time
_C1, _C2 = (0.01 * 255) ** 2, (0.03 * 255) ** 2


def structural_similarity(first: Any, second: Any) -> float:
    """Mean SSIM over 7x7 windows that lie inside the picture; Wang et al. 2004, scikit-image's defaults for bytes.

    Args:
        first: gray picture, uint8, (height, width).
        second: of the same shape.

    Returns:
        At most 1; pictures smaller than one window are compared for equality.
    """
    import numpy as np

    height, width = first.shape
    if min(height, width) < WINDOW:
        return float(np.array_equal(first, second))
    total = 0.0
    for top in range(0, height - WINDOW + 1, STRIP):
        rows = slice(top, min(top + STRIP + WINDOW - 1, height))
        total += float(_strip(first[rows].astype(np.float64), second[rows].astype(np.float64)).sum())
    windows: int = (height - WINDOW + 1) * (width - WINDOW + 1)
    return total / windows


def _strip(x: Any, y: Any) -> Any:
    mean_x, mean_y = _mean(x), _mean(y)
    sample = WINDOW**2 / (WINDOW**2 - 1)
    var_x, var_y = sample * (_mean(x * x) - mean_x**2), sample * (_mean(y * y) - mean_y**2)
    covariance = sample * (_mean(x * y) - mean_x * mean_y)
    upper = (2 * mean_x * mean_y + _C1) * (2 * covariance + _C2)
    return upper / ((mean_x**2 + mean_y**2 + _C1) * (var_x + var_y + _C2))


def _mean(plane: Any) -> Any:
    """The mean of every window that lies inside: sums of rows and columns from running totals."""
    import numpy as np

    for axis in (0, 1):
        totals = np.cumsum(plane, axis=axis)
        first, last = [slice(None)] * 2, [slice(None)] * 2
        first[axis], last[axis] = slice(WINDOW - 1, WINDOW), slice(WINDOW, None)
        moved = [slice(None)] * 2
        moved[axis] = slice(None, -WINDOW)
        plane = np.concatenate([totals[tuple(first)], totals[tuple(last)] - totals[tuple(moved)]], axis=axis)
    return plane / WINDOW**2
