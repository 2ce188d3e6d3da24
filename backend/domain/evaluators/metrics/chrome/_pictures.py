"""How alike two pictures are to a person: a perceptual hash, and colours."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from PIL.Image import Image

NEAR = 5  # bits of 64 by which hashes may differ, as in OSWorld
_GRID = (16, 16)
_COLOURS = 24.0  # mean difference of a channel, of 255: more than another compression makes


def hash_distance(one: "Image", other: "Image") -> int:
    """By how many of 64 bits the perceptual hashes (pHash) differ."""
    from imagehash import phash

    return int(phash(one) - phash(other))


def colour_distance(one: "Image", other: "Image") -> float:
    """The mean difference of the channels of both pictures, made small; 0 to 255."""
    import numpy as np

    small = [np.asarray(each.convert("RGB").resize(_GRID), dtype=np.float64) for each in (one, other)]
    return float(np.abs(small[0] - small[1]).mean())


def alike(one: "Image", other: "Image", *, colours: bool = True) -> bool:
    """Whether both show the same."""
    return hash_distance(one, other) <= NEAR and (not colours or colour_distance(one, other) <= _COLOURS)
