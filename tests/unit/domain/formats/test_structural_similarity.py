from typing import Any

import numpy as np
import pytest
from skimage import metrics

from backend.domain.formats.structural_similarity import STRIP, structural_similarity

published: Any = metrics.structural_similarity  # It has no types.


class TestStructuralSimilarity:
    @pytest.mark.parametrize("shape", [(7, 7), (8, 40), (60, 90), (STRIP + 6, 20), (STRIP + 7, 20), (2 * STRIP + 3, 9)])
    def test_as_scikit_image(self, shape: tuple[int, int]) -> None:
        random = np.random.default_rng(sum(shape))
        first = random.integers(0, 256, shape, dtype=np.uint8)
        second = np.clip(first + random.integers(-40, 40, shape), 0, 255).astype(np.uint8)
        assert structural_similarity(first, second) == pytest.approx(published(first, second), abs=1e-9)

    def test_smaller_than_a_window(self) -> None:
        plane = np.zeros((3, 3), np.uint8)
        assert structural_similarity(plane, plane) == 1.0
        assert structural_similarity(plane, plane + 1) == 0.0
