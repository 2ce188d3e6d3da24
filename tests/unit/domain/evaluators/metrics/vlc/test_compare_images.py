from pathlib import Path
from typing import Any

import numpy as np
import pytest
from PIL import Image
from skimage import metrics

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.vlc.compare_images import compare_images
from tests.factories.metric_cases.vlc import picture

published: Any = metrics.structural_similarity  # It has no types.


class TestCompareImages:
    def test_another_format_is_the_same_picture(self, tmp_path: Path) -> None:
        gold = picture(tmp_path / "a.png")
        Image.open(gold).save(tmp_path / "a.bmp")
        assert compare_images(str(tmp_path / "a.bmp"), gold).value == pytest.approx(1.0)

    def test_picture_of_another_size_is_resized(self, tmp_path: Path) -> None:
        gold = picture(tmp_path / "a.png")
        Image.open(gold).resize((180, 120), Image.Resampling.NEAREST).save(tmp_path / "b.png")
        assert compare_images(str(tmp_path / "b.png"), gold).value > 0.9

    def test_similarity_equals_the_published_formula(self, tmp_path: Path) -> None:
        mine, gold = picture(tmp_path / "a.png", stain=30), picture(tmp_path / "b.png", size=(70, 80))
        size = (70, 80)
        planes = [
            np.array(Image.open(path).convert("L").resize(size, Image.Resampling.LANCZOS)) for path in (mine, gold)
        ]
        assert compare_images(mine, gold).value == pytest.approx(max(0.0, published(*planes)), abs=1e-9)

    @pytest.mark.parametrize(("base", "value"), [(0.54, 1.0), (0.99, 1.0), (0.995, 0.0)])
    def test_the_score_of_an_untouched_picture(self, tmp_path: Path, base: float, value: float) -> None:
        mine, gold = picture(tmp_path / "a.png"), picture(tmp_path / "b.png")
        assert compare_images(mine, gold, reference_base_result=base).value == pytest.approx(value)

    def test_the_rest_of_the_way(self, tmp_path: Path) -> None:
        mine, gold = picture(tmp_path / "a.png", stain=20), picture(tmp_path / "b.png")
        plain = compare_images(mine, gold).value
        assert compare_images(mine, gold, reference_base_result=0.5).value == pytest.approx((plain - 0.5) / 0.5)

    @pytest.mark.parametrize("base", [1, 1.5, "x"])
    def test_invalid_base_gives_no_verdict(self, tmp_path: Path, base: float) -> None:
        gold = picture(tmp_path / "a.png")
        with pytest.raises(EvaluatorFailed):
            compare_images(gold, gold, reference_base_result=base)

    def test_a_picture_that_would_fill_the_memory(self, tmp_path: Path) -> None:
        Image.new("1", (12_000, 12_000)).save(tmp_path / "huge.png")
        result = compare_images(str(tmp_path / "huge.png"), picture(tmp_path / "a.png"))
        assert result.value == 0.0
        assert "too large" in result.reasons[0] or "Bomb" in result.reasons[0]
