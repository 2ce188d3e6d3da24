"""Perceptual similarity of two pictures: a perceptual hash, and colours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

NEAR = 5  # bits of 64 by which hashes may differ, as in OSWorld
_COLOURS = 40.0  # of 255: more than a different compression causes


def hash_distance(one: "Image", other: "Image") -> int:
    """Number of differing bits, of 64, of the perceptual hashes (pHash)."""
    import imagehash

    return int(imagehash.phash(one) - imagehash.phash(other))


def colour_distance(one: "Image", other: "Image", *, side: int = 16, share: int = 10) -> float:
    """Mean of the largest colour differences; 0 to 255.

    Args:
        one: a picture.
        other: the other picture.
        side: side of the grid to which both are scaled.
        share: share of the grid's fields, those with the largest differences, that the mean is taken of.
    """
    import numpy as np

    small = [np.asarray(each.convert("RGB").resize((side, side)), dtype=np.float64) for each in (one, other)]
    largest = np.sort(np.abs(small[0] - small[1]).max(axis=2).ravel())[-(side * side // share) :]
    return float(largest.mean())


def alike(one: "Image", other: "Image", *, colours: bool = True) -> bool:
    """Whether both pictures look the same."""
    return hash_distance(one, other) <= NEAR and (not colours or colour_distance(one, other) <= _COLOURS)


def alike_pages(one: "Image", other: "Image") -> bool:
    """Whether two pages look the same, down to a drawing that covers a hundredth of them."""
    return alike(one, other) and colour_distance(one, other, side=64, share=100) <= _COLOURS
