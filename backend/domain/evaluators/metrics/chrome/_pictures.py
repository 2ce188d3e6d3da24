"""Perceptual similarity of two pictures: a perceptual hash, and colours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

NEAR = 5  # bits of 64 by which hashes may differ, as in OSWorld
_COLOURS = 40.0  # of 255: more than a different compression causes


def hash_distance(first: "Image", second: "Image") -> int:
    """Number of differing bits, of 64, of the perceptual hashes (pHash)."""
    import imagehash

    return int(imagehash.phash(first) - imagehash.phash(second))


def colour_distance(first: "Image", second: "Image", *, side: int = 16, share: int = 10) -> float:
    """Mean of the largest colour differences; 0 to 255.

    Args:
        first: a picture.
        second: another picture.
        side: side of the grid to which both are scaled.
        share: share of the grid's fields, those with the largest differences, that the mean is taken of.
    """
    import numpy as np

    small = [np.asarray(image.convert("RGB").resize((side, side)), dtype=np.float64) for image in (first, second)]
    largest = np.sort(np.abs(small[0] - small[1]).max(axis=2).ravel())[-(side * side // share) :]
    return float(largest.mean())


def alike(first: "Image", second: "Image", *, colours: bool = True) -> bool:
    """Whether both pictures look the same."""
    return hash_distance(first, second) <= NEAR and (not colours or colour_distance(first, second) <= _COLOURS)


def alike_pages(first: "Image", second: "Image") -> bool:
    """Whether two pages look the same, down to a drawing that covers a hundredth of them."""
    return alike(first, second) and colour_distance(first, second, side=64, share=100) <= _COLOURS
