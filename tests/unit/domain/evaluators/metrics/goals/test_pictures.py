from pathlib import Path
from typing import Any

import pytest
from PIL import Image

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.goals.picture_goals import picture_goals
from backend.domain.evaluators.metrics.goals.same_picture import same_picture


@pytest.fixture
def flag(tmp_path: Path) -> str:
    """Left half red, right half white."""
    picture = Image.new("RGB", (40, 20), "white")
    picture.paste((200, 0, 0), (0, 0, 20, 20))
    picture.save(tmp_path / "flag.png")
    return str(tmp_path / "flag.png")


def damaged(folder: Path, flag: str) -> str:
    (folder / "damaged.png").write_bytes(Path(flag).read_bytes()[:60])
    return str(folder / "damaged.png")


class TestSamePicture:
    def test_same_picture_in_another_format_passes(self, tmp_path: Path, flag: str) -> None:
        Image.open(flag).save(tmp_path / "flag.bmp")
        assert same_picture(str(tmp_path / "flag.bmp"), flag).value == 1.0

    def test_transparency_is_white(self, tmp_path: Path, flag: str) -> None:
        picture = Image.new("RGBA", (40, 20), (0, 0, 0, 0))
        picture.paste((200, 0, 0, 255), (0, 0, 20, 20))
        picture.save(tmp_path / "clear.png")
        assert same_picture(str(tmp_path / "clear.png"), flag).value == 1.0

    def test_mirrored_picture_scores_0(self, tmp_path: Path, flag: str) -> None:
        Image.open(flag).transpose(Image.Transpose.FLIP_LEFT_RIGHT).save(tmp_path / "mirror.png")
        result = same_picture(str(tmp_path / "mirror.png"), flag)
        assert result.value == 0.0
        assert result.reasons == ("0.00% of the pixels match, expected at least 99%",)

    def test_picture_of_another_size_is_reported(self, tmp_path: Path, flag: str) -> None:
        Image.open(flag).resize((20, 10)).save(tmp_path / "small.png")
        assert "size" in same_picture(str(tmp_path / "small.png"), flag).reasons[0]

    def test_absent_damaged_and_empty_files_are_verdicts(self, tmp_path: Path, flag: str) -> None:
        (tmp_path / "empty.png").touch()
        for path in (None, damaged(tmp_path, flag), str(tmp_path / "empty.png")):
            assert same_picture(path, flag).value == 0.0

    def test_missing_expectation_gives_no_verdict(self, flag: str) -> None:
        with pytest.raises(EvaluatorFailed):
            same_picture(flag, None)


class TestPictureGoals:
    @pytest.mark.parametrize("mode", ["RGBA", "LA", "P"])
    def test_colours_behind_transparency_are_not_seen(self, tmp_path: Path, mode: str) -> None:
        picture = Image.new("RGBA", (4, 4), (0, 0, 0, 0)).convert(mode)
        path = str(tmp_path / "clear.png")
        clear: dict[str, Any] = {"transparency": picture.getpixel((0, 0))} if mode == "P" else {}
        picture.save(path, **clear)
        assert picture_goals(path, {"pixels": [[0, 0, [255, 255, 255]]], "gray": True}).value == 1

    def test_size_format_and_pixels(self, flag: str) -> None:
        rules = {"size": [40, 20], "format": "PNG", "pixels": [[5, 5, [200, 0, 0]], [35, 5, [255, 255, 255]]]}
        assert picture_goals(flag, rules).value == 1.0

    def test_partial_scores_the_share_of_goals(self, flag: str) -> None:
        assert picture_goals(flag, {"size": [40, 20], "format": "JPEG", "partial": True}).value == 0.5

    def test_a_pixel_outside_is_wrong(self, flag: str) -> None:
        assert picture_goals(flag, {"pixels": [[50, 5, [255, 255, 255]]]}).value == 0.0

    def test_gray_requires_a_gray_picture(self, tmp_path: Path, flag: str) -> None:
        Image.open(flag).convert("L").save(tmp_path / "gray.png")
        assert picture_goals(str(tmp_path / "gray.png"), {"gray": True}).value == 1.0
        assert picture_goals(flag, {"gray": True}).value == 0.0

    def test_absent_and_damaged_files_are_verdicts(self, tmp_path: Path, flag: str) -> None:
        assert picture_goals(None, {"gray": True}).value == 0.0
        assert picture_goals(damaged(tmp_path, flag), {"gray": True}).value == 0.0

    def test_a_decompression_bomb_is_a_verdict(self, tmp_path: Path) -> None:
        Image.new("1", (9000, 9000)).save(tmp_path / "bomb.png")
        assert "too large" in picture_goals(str(tmp_path / "bomb.png"), {"gray": True}).reasons[0]


@pytest.mark.parametrize(
    ("suffix", "name", "value"),
    [("jpg", "JPEG", 1.0), ("jpg", "JPG", 1.0), ("jpg", "jpeg", 1.0), ("tif", "TIF", 1.0), ("png", "JPG", 0.0)],
)
def test_names_of_formats(tmp_path: Path, flag: str, suffix: str, name: str, value: float) -> None:
    path = str(tmp_path / f"a.{suffix}")
    Image.open(flag).save(path)
    assert picture_goals(path, {"format": name}).value == value
