"""Whether two pictures show the same: structural similarity (Wang et al. 2004), as scikit-image computes it."""

from typing import TYPE_CHECKING

from backend.domain.formats.pictures import has_alpha, is_turned, on_white, upright

if TYPE_CHECKING:
    from PIL.Image import Image

_WINDOW = 7
_ROWS = 16
_OPAQUE_FROM = 128
_SAME_HOLES = 0.5


def ssim(one: "Image", other: "Image", window: int = _WINDOW) -> float:
    """Mean structural similarity of two RGB pictures of one size.

    The same as scikit-image's `structural_similarity(win_size=window, channel_axis=2)`, to 1e-7, in a fifth of its
    time: a window's sums are whole numbers, and strips keep memory small.

    Args:
        one: a picture of 3 x 3 pixels at least.
        other: another.
        window: an odd number of pixels from 3 to 7; not more than a side has.
    """
    import numpy as np

    a, b = np.asarray(one), np.asarray(other)
    inner, total = int(a.shape[0]) - window + 1, 0.0
    for start in range(0, inner, _ROWS):
        rows = slice(start, min(inner, start + _ROWS) + window - 1)
        total += float(_likenesses(a[rows], b[rows], window).sum(dtype=np.float64))
    return total / (inner * (int(a.shape[1]) - window + 1) * 3)


def _likenesses(a: "np.ndarray", b: "np.ndarray", window: int) -> "np.ndarray":
    """Structural similarity of every window that lies inside of a strip, per channel.

    Wang et al.'s formula with K1 = 0.01, K2 = 0.03 and the sample covariance, both factors of each fraction multiplied
    by what makes sums of means and covariances: all terms but the constants fit 32-bit whole numbers.
    """
    import cv2
    import numpy as np

    count = window * window
    mean_floor = np.float32((0.01 * 255) ** 2 * count * count)
    spread_floor = np.float32((0.03 * 255) ** 2 * count * (count - 1))
    apart = cv2.absdiff(a, b).astype(np.uint16)
    sum_a, sum_b, sum_joint = _sums(a, window), _sums(b, window), _sums(a.astype(np.uint16) * b, window)
    product, squares = sum_a * sum_b, sum_a * sum_a + sum_b * sum_b
    joint = count * sum_joint - product
    # a^2 + b^2 = (a - b)^2 + 2ab: one sum instead of two, of whole numbers that still fit 16 bits.
    spread = count * (_sums(apart * apart, window) + 2 * sum_joint) - squares
    above = ((2 * product).astype(np.float32) + mean_floor) * ((2 * joint).astype(np.float32) + spread_floor)
    below = (squares.astype(np.float32) + mean_floor) * (spread.astype(np.float32) + spread_floor)
    likenesses: np.ndarray = above / below
    return likenesses


def _sums(plane: "np.ndarray", window: int) -> "np.ndarray":
    """The sum of every window that lies inside, per channel."""
    import cv2

    reach = window // 2
    sums = cv2.boxFilter(plane, cv2.CV_32S, (window, window), normalize=False)
    return sums[reach : sums.shape[0] - reach, reach : sums.shape[1] - reach]


def similar(one: "Image", other: "Image", threshold: float) -> tuple[bool, str]:
    """Whether two pictures have the same size and structure, transparency left aside."""
    if one.size != other.size:
        return False, f"size {one.size}, expected {other.size}"
    if min(one.size) < _WINDOW:
        return False, f"a picture of {one.size} is too small to be compared"
    value = ssim(one.convert("RGB"), other.convert("RGB"))
    return value >= threshold, f"structural similarity {value:.4f}, wanted {threshold:g}"


def same_structure(one: "Image", other: "Image", threshold: float, *, strict: bool = False) -> tuple[bool, str]:
    """The same, as the pictures show: with what their EXIF notes turn, and with the holes of the expected picture.

    Args:
        one: the picture that was left.
        other: the expected one.
        threshold: least similarity.
        strict: leave both aside, as upstream does.
    """
    alike, reason = _best(one, other, threshold, strict=strict)
    if not alike and not strict and (is_turned(one) or is_turned(other)):
        alike, reason = _best(upright(one), upright(other), threshold, strict=strict)
    return alike, reason


def _best(one: "Image", other: "Image", threshold: float, *, strict: bool) -> tuple[bool, str]:
    """Programs differ in the colours that they hide behind full transparency: hidden or not, one likeness is enough."""
    alike, reason = similar(one, other, threshold)
    if strict or one.size != other.size or not has_alpha(other) or not _holes(other).any():
        return alike, reason
    if not alike:
        alike, reason = similar(on_white(one), on_white(other), threshold)
    if not alike:
        return alike, reason
    mine, expected = _holes(one), _holes(other)
    share = float((mine & expected).sum() / (mine | expected).sum())
    return share >= _SAME_HOLES, f"{reason}; {share:.0%} of the transparent area is the same"


def _holes(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.asarray(picture.convert("RGBA").getchannel("A")) < _OPAQUE_FROM


if TYPE_CHECKING:
    import numpy as np
