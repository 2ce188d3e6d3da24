"""Whether two pictures show the same: structural similarity, as scikit-image computes it (Wang et al. 2004)."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.formats.pictures import has_alpha, is_turned, on_white, upright

if TYPE_CHECKING:
    from PIL.Image import Image

_WINDOW = 7
_REACH = _WINDOW // 2
_ROWS = 512
_OPAQUE_FROM = 128
_SAME_HOLES = 0.5


def ssim(one: "Image", other: "Image", window: int = _WINDOW) -> float:
    """Mean structural similarity of two RGB pictures of one size, computed in strips so that memory stays small.

    A window's value depends on its own pixels only, so strips that overlap by its reach give scikit-image's mean.
    """
    import numpy as np
    from skimage.metrics import structural_similarity

    a, b = np.asarray(one), np.asarray(other)
    reach, total = window // 2, 0.0
    inner = int(a.shape[0]) - 2 * reach
    for start in range(0, inner, _ROWS):
        stop = min(inner, start + _ROWS)
        rows = slice(start, stop + 2 * reach)
        value = structural_similarity(a[rows], b[rows], win_size=window, channel_axis=2)  # type: ignore[no-untyped-call]
        total += (stop - start) * float(value)
    return total / inner


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
    found, reason = _best(one, other, threshold, strict=strict)
    if not found and not strict and (is_turned(one) or is_turned(other)):
        found, reason = _best(upright(one), upright(other), threshold, strict=strict)
    return found, reason


def _best(one: "Image", other: "Image", threshold: float, *, strict: bool) -> tuple[bool, str]:
    """Programs differ in the colours that they hide behind full transparency: hidden or not, one likeness is enough."""
    found, reason = similar(one, other, threshold)
    if strict or one.size != other.size or not has_alpha(other) or not _holes(other).any():
        return found, reason
    if not found:
        found, reason = similar(on_white(one), on_white(other), threshold)
    if not found:
        return found, reason
    mine, wanted = _holes(one), _holes(other)
    share = float((mine & wanted).sum() / (mine | wanted).sum())
    return share >= _SAME_HOLES, f"{reason}; {share:.0%} of the transparent area is the same"


def _holes(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.asarray(picture.convert("RGBA").getchannel("A")) < _OPAQUE_FROM


if TYPE_CHECKING:
    import numpy as np
