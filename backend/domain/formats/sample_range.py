"""The range of deep pictures' samples."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    import numpy as np

STRIP = 256
"""Rows that are looked at together, so that large pictures do not fill the memory."""
_RANGES = (255.0, 65535.0, 2.0**31 - 1, 2.0**32 - 1)


def white_of(values: "np.ndarray", *, least: float = 1.0) -> float:
    """The value of white. Programs use several ranges for 32 bits and floating point.

    Args:
        values: shape (rows, ...).
        least: the smallest range.
    """
    import numpy as np

    strips = (values[row : row + STRIP] for row in range(0, len(values), STRIP))
    largest = max((float(strip[np.isfinite(strip)].max(initial=0)) for strip in strips), default=0.0)
    return next((most for most in (least, *_RANGES) if largest <= most), largest)


def to_eight_bits(values: "np.ndarray", white: float) -> "np.ndarray":
    """Samples from 0 to `white` as 0.0 to 255.0, of the same shape; NaN becomes 0."""
    import numpy as np

    return np.nan_to_num(values.astype(np.float64), posinf=white).clip(0, white) * (255 / white)
