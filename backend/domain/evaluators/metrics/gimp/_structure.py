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


def ssim(first: "Image", second: "Image", window: int = WINDOW) -> float:
    """Structural similarity (SSIM) of two RGB pictures of the same size."""
    import numpy as np

    return structural_similarity(np.asarray(first), np.asarray(second), window)


LIKENESS = 0.9
"""Structural similarity from which on pictures count as alike."""


def similar(first: "Image", second: "Image", threshold: float) -> tuple[bool, str]:
    """Whether two pictures have the same size and structure, ignoring transparency."""
    if first.size != second.size:
        return False, f"size {pixels(first.size)}, expected {pixels(second.size)}"
    if min(first.size) < WINDOW:
        return False, f"a picture of {pixels(first.size)} is too small for a comparison"
    value = ssim(first.convert("RGB"), second.convert("RGB"))
    return value >= threshold, f"structural similarity {value:.4f}, expected {threshold:g}"


def same_structure(first: "Image", second: "Image", threshold: float, *, strict: bool = False) -> tuple[bool, str]:
    """Like `similar`, with the transparency of the expected picture.

    The best similarity with and without the colours behind full transparency counts: programs write them differently.

    Args:
        first: the agent's picture.
        second: the expected picture.
        threshold: minimum similarity.
        strict: ignore transparency, as upstream does.
    """
    alike, reason = similar(first, second, threshold)
    if strict or first.size != second.size or not has_alpha(second) or not _holes(second).any():
        return alike, reason
    if not alike:
        alike, reason = similar(on_white(first), on_white(second), threshold)
    if not alike:
        return alike, reason
    actual, expected = _holes(first), _holes(second)
    share = float((actual & expected).sum() / (actual | expected).sum())
    return share >= _SAME_HOLES, f"{reason}; {share:.0%} of the transparent area is the same"


def _holes(picture: "Image") -> "np.ndarray":
    import numpy as np

    return np.asarray(picture.convert("RGBA").getchannel("A")) < _OPAQUE_FROM
