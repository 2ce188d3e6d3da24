"""Structural similarity (Wang et al. 2004), as scikit-image computes it.

scikit-image's own takes three times as long, a second to import, and memory for the whole picture.
"""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

WINDOW = 7
STRIP = 16  # rows of windows at a time


def structural_similarity(first: "np.ndarray", second: "np.ndarray", window: int = WINDOW) -> float:
    """The mean over all windows inside the pictures and over the channels; at most 1.

    Equals scikit-image's `structural_similarity(win_size=window)`.

    Args:
        first: bytes of a picture: (height, width) or (height, width, channels).
        second: bytes of the same shape. Pictures smaller than one window are compared for equality.
        window: an odd number of pixels from 3 to 7.
    """
    import numpy as np

    height, width = first.shape[:2]
    if min(height, width) < window:
        return float(np.array_equal(first, second))
    inner, total, windows = height - window + 1, 0.0, 0
    for start in range(0, inner, STRIP):
        rows = slice(start, min(inner, start + STRIP) + window - 1)
        values = _of_windows(first[rows], second[rows], window)
        total, windows = total + float(values.sum()), windows + values.size
    return total / windows


def _of_windows(a: "np.ndarray", b: "np.ndarray", window: int) -> "np.ndarray":
    """Structural similarity of every window inside a strip, per channel.

    Wang et al.'s formula with K1 = 0.01, K2 = 0.03 and the sample covariance, scaled so that means and covariances
    become sums: all terms but the constants fit 32-bit integers.
    """
    import cv2
    import numpy as np

    count = window * window
    mean_floor = (0.01 * 255) ** 2 * count * count
    spread_floor = (0.03 * 255) ** 2 * count * (count - 1)
    apart = cv2.absdiff(a, b).astype(np.uint16)
    sum_a, sum_b, sum_joint = _sums(a, window), _sums(b, window), _sums(a.astype(np.uint16) * b, window)
    product, squares = sum_a * sum_b, sum_a * sum_a + sum_b * sum_b
    joint = count * sum_joint - product
    # a^2 + b^2 = (a - b)^2 + 2ab: one sum instead of two, of integers that fit 16 bits.
    spread = count * (_sums(apart * apart, window) + 2 * sum_joint) - squares
    values: np.ndarray = (2 * product + mean_floor) * (2 * joint + spread_floor)
    values /= (squares + mean_floor) * (spread + spread_floor)
    return values


def _sums(plane: "np.ndarray", window: int) -> "np.ndarray":
    """The sum of every window inside, per channel."""
    import cv2

    reach = window // 2
    sums = cv2.boxFilter(plane, cv2.CV_32S, (window, window), normalize=False)
    return sums[reach : sums.shape[0] - reach, reach : sums.shape[1] - reach]
