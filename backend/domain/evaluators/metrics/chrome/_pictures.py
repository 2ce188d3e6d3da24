"""How alike two pictures are to a person: a perceptual hash, and colours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

NEAR = 5  # bits of 64 by which hashes may differ, as in OSWorld
_COLOURS = 40.0  # of 255: more than another compression makes


def hash_distance(one: "Image", other: "Image") -> int:
    """By how many of 64 bits the perceptual hashes (pHash) differ."""
    import imagehash

    return int(imagehash.phash(one) - imagehash.phash(other))


def colour_distance(one: "Image", other: "Image", *, side: int = 16, share: int = 10) -> float:
    """How far the colours differ where they differ most; 0 to 255.

    Args:
        one: a picture.
        other: another.
        side: of the grid to which both are made small.
        share: the mean is of the largest differences of a sample of the grid's fields.
    """
    import numpy as np

    small = [np.asarray(each.convert("RGB").resize((side, side)), dtype=np.float64) for each in (one, other)]
    largest = np.sort(np.abs(small[0] - small[1]).max(axis=2).ravel())[-(side * side // share) :]
    return float(largest.mean())


def alike(one: "Image", other: "Image", *, colours: bool = True) -> bool:
    """Whether both show the same."""
    return hash_distance(one, other) <= NEAR and (not colours or colour_distance(one, other) <= _COLOURS)


def alike_pages(one: "Image", other: "Image") -> bool:
    """Whether two pages show the same, down to a drawing that fills a hundredth of them."""
    return alike(one, other) and colour_distance(one, other, side=64, share=100) <= _COLOURS
