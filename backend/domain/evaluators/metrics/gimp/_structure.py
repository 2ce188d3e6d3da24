"""Structural similarity of two pictures."""

from typing import TYPE_CHECKING

from backend.domain.evaluators.metrics._pictures import pixels
from backend.domain.formats.pictures import has_alpha, on_white
from backend.domain.formats.structural_similarity import WINDOW, structural_similarity

if TYPE_CHECKING:
    import numpy as np
    from PIL.Image import Image

_OPAQUE_FROM = 128
_SAME_HOLES = 0.5


def ssim(one: "Image", other: "Image", window: int = WINDOW) -> float:
    """Structural similarity (SSIM) of two RGB pictures of the same size."""
    import numpy as np

    return structural_similarity(np.asarray(one), np.asarray(other), window)


LIKENESS = 0.9
"""Structural similarity from which on pictures count as alike."""


def similar(one: "Image", other: "Image", threshold: float) -> tuple[bool, str]:
    """Whether two pictures have the same size and structure, ignoring transparency."""
    if one.size != other.size:
        return False, f"size {pixels(one.size)}, expected {pixels(other.size)}"
    if min(one.size) < WINDOW:
        return False, f"a picture of {pixels(one.size)} is too small for a comparison"
    value = ssim(one.convert("RGB"), other.convert("RGB"))
    return value >= threshold, f"structural similarity {value:.4f}, expected {threshold:g}"


def same_structure(one: "Image", other: "Image", threshold: float, *, strict: bool = False) -> tuple[bool, str]:
    """Like `similar`, with the transparency of the expected picture.

    The best similarity with and without the colours behind full transparency counts: programs write them differently.

    Args:
        one: the agent's picture.
        other: the expected picture.
        threshold: minimum similarity.
        strict: ignore transparency, as upstream does.
    """
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
