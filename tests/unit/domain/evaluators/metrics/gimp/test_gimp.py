"""Metrics of pictures and of GIMP's settings. `strict` values are what upstream returns."""

import os
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from PIL import Image

from backend.domain import registry
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.metrics.gimp._structure import ssim
from backend.domain.formats.gimp_config import read_entries
from backend.domain.formats.pictures import read_picture
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.error_codes import raises_code
from tests.factories.images import (
    blurred,
    brighter,
    contrasted,
    hole,
    huge_header,
    object_on,
    save,
    scene,
    text_at,
    triangle,
    vivid,
)

registry.load()


def metric(name: str, *args: Any, **options: Any) -> MetricValue:
    result: MetricValue = registry.lookup(PluginKind.METRIC, name, "osworld")(*args, **options)
    return result


def both(name: str, *args: Any, **options: Any) -> list[float]:
    """Our value and upstream's."""
    return [metric(name, *args, **options, strict_upstream=strict).value for strict in (False, True)]


@pytest.fixture
def original(tmp_path: Path) -> str:
    return save(scene(), tmp_path / "original.png")


class TestStructure:
    @pytest.mark.parametrize("window", [3, 5, 7])
    @pytest.mark.parametrize("size", [(7, 7), (40, 63), (33, 70), (31, 134)])
    def test_similarity_equals_scikit_image(self, size: tuple[int, int], window: int) -> None:
        from skimage.metrics import structural_similarity

        one = scene(size)
        for other in (blurred(one, 1), brighter(one, 0.4), scene(size, 9), Image.new("RGB", size, (255, 255, 255))):
            value = structural_similarity(  # type: ignore[no-untyped-call]
                np.asarray(one), np.asarray(other), channel_axis=2, win_size=window
            )
            assert ssim(one, other, window) == pytest.approx(float(value), abs=1e-9)

    def test_white_on_white(self) -> None:
        white = Image.new("RGB", (50, 80), (255, 255, 255))
        assert ssim(white, white) == pytest.approx(1, abs=1e-7)

    def test_structure_verdicts_equal_upstreams(self, original: str, tmp_path: Path) -> None:
        for name, picture, value in (
            ("tiff.tif", scene(), 1),
            ("dark.png", brighter(scene(), 0.7), 1),
            ("blurred.png", blurred(scene(), 4), 0),
            ("mirrored.png", scene().transpose(Image.Transpose.FLIP_LEFT_RIGHT), 0),
            ("eight.png", scene().quantize(8), 0),
        ):
            mine = save(picture, tmp_path / name)
            assert both("check_structure_sim", mine, original) == [value, value], name
            assert both("check_file_exists_and_structure_sim", mine, original) == [value, value], name

    def test_pictures_of_different_size_need_the_resized_metric(self, original: str, tmp_path: Path) -> None:
        mine = save(scene().resize((192, 128), Image.Resampling.LANCZOS), tmp_path / "mine.png")
        assert both("check_structure_sim", mine, original) == [0, 0]
        assert both("check_structure_sim_with_threshold", mine, original, ssim_threshold=0.85) == [1, 1]
        assert metric("check_structure_sim_resized", mine, original).value == 1

    def test_pictures_below_the_window_size_are_compared_safely(self, tmp_path: Path) -> None:
        tiny = save(scene().resize((5, 5)), tmp_path / "tiny.png")
        assert both("check_structure_sim", tiny, tiny) == [0, 0]
        assert both("check_structure_sim_with_threshold", tiny, tiny) == [1, 1]
        line = save(scene().resize((50, 2)), tmp_path / "line.png")
        assert both("check_structure_sim_with_threshold", line, line) == [0, 0]

    def test_expected_transparency_is_required(self, tmp_path: Path) -> None:
        gold = save(hole(scene()), tmp_path / "gold.png")
        untouched = save(scene(), tmp_path / "mine.png")
        assert both("check_structure_sim", untouched, gold) == [0, 1]
        assert both("check_structure_sim_with_threshold", untouched, gold) == [0, 1]

    def test_colours_behind_a_hole_do_not_show(self, tmp_path: Path) -> None:
        gold = save(hole(scene()), tmp_path / "gold.png")
        mine = save(hole(scene(), hidden=(0, 0, 0)), tmp_path / "mine.png")
        assert both("check_structure_sim", mine, gold) == [1, 0]
        assert both("check_structure_sim", gold, gold) == [1, 1]

    def test_exif_orientation_is_applied(self, tmp_path: Path) -> None:
        sideways = scene().transpose(Image.Transpose.ROTATE_90)
        note = Image.Exif()
        note[0x0112] = 6
        mine = save(sideways, tmp_path / "mine.jpg", exif=note, quality=98, subsampling=0)
        assert both("check_structure_sim", mine, save(scene(), tmp_path / "gold.png")) == [1, 0]
        assert both("check_structure_sim", mine, save(sideways, tmp_path / "stored.png")) == [0, 1]

    def test_transparent_margin_is_cropped(self, original: str, tmp_path: Path) -> None:
        canvas = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
        canvas.paste(scene().resize((192, 128), Image.Resampling.LANCZOS), (50, 20))
        mine = save(canvas, tmp_path / "mine.png")
        assert metric("check_structure_sim_resized", mine, original).value == 1
        assert metric("check_structure_sim_resized", save(hole(scene(), whole=True), Path(mine)), original).value == 0

    @pytest.mark.parametrize("threshold", ["0.8", 2, None])
    def test_invalid_threshold_gives_no_verdict(self, threshold: Any, original: str) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("check_structure_sim_with_threshold", original, original, ssim_threshold=threshold)

    @settings(max_examples=5, deadline=None)
    @given(seed=st.integers(0, 99), factor=st.floats(0.3, 1.0))
    def test_similarity_is_symmetric(self, seed: int, factor: float) -> None:
        one, other = scene((30, 20), seed), brighter(scene((30, 20), seed), factor)
        assert ssim(one, one) == pytest.approx(1)
        assert ssim(one, other) == pytest.approx(ssim(other, one))
        assert -1 <= ssim(one, other) <= 1


class TestTones:
    @pytest.mark.parametrize(("factor", "value"), [(0.7, 1), (0.95, 1), (1.0, 0), (1.2, 0), (0.001, 0)])
    def test_only_a_darker_copy_passes(self, factor: float, value: float, original: str, tmp_path: Path) -> None:
        mine = save(brighter(scene(), factor), tmp_path / "mine.png")
        assert both("check_brightness_decrease_and_structure_sim", mine, original) == [value, value]

    def test_darker_different_picture_scores_0(self, original: str, tmp_path: Path) -> None:
        mine = save(brighter(scene(seed=7).transpose(Image.Transpose.FLIP_LEFT_RIGHT), 0.5), tmp_path / "mine.png")
        name = "check_brightness_decrease_and_structure_sim"
        assert metric(name, mine, original).value == 0
        assert metric(name, mine, original, threshold=0.9).value == 1

    def test_the_second_picture_may_be_the_agents(self, original: str) -> None:
        name = "check_brightness_decrease_and_structure_sim"
        assert metric(name, original, None).reasons == ("the expected picture does not exist",)

    def test_palette_pictures_are_compared_by_colour(self, tmp_path: Path) -> None:
        bright = save(scene().quantize(200), tmp_path / "bright.png")
        dark = save(brighter(scene(), 0.7), tmp_path / "dark.png")
        assert both("check_brightness_decrease_and_structure_sim", dark, bright) == [1, 0]

    @pytest.mark.parametrize(("factor", "value"), [(1.3, 1), (1.0, 0), (0.8, 0)])
    def test_only_a_more_saturated_copy_passes(
        self, factor: float, value: float, original: str, tmp_path: Path
    ) -> None:
        mine = save(vivid(scene(), factor), tmp_path / "mine.png")
        assert metric("check_saturation_increase_and_structure_sim", mine, original).value == value
        assert metric("increase_saturation", original, mine).value == value

    @pytest.mark.parametrize(("factor", "value"), [(1.4, 1), (1.0, 0), (0.8, 0)])
    def test_only_a_copy_with_more_contrast_passes(
        self, factor: float, value: float, original: str, tmp_path: Path
    ) -> None:
        mine = save(contrasted(scene(), factor), tmp_path / "mine.png")
        assert both("check_contrast_increase_and_structure_sim", mine, original) == [value, value]

    def test_opacity_does_not_count_as_contrast(self, original: str, tmp_path: Path) -> None:
        mine = save(scene().convert("RGBA"), tmp_path / "mine.png")
        assert both("check_contrast_increase_and_structure_sim", mine, original) == [0, 1]


class TestTriangle:
    @pytest.mark.parametrize(("centre", "value"), [((100, 60), 1), ((108, 60), 1), ((113, 60), 0), ((40, 60), 0)])
    def test_triangle_must_be_in_the_centre(self, centre: tuple[int, int], value: float, tmp_path: Path) -> None:
        assert metric("check_triangle_position", save(triangle(centre), tmp_path / "a.png")).value == value

    def test_background_is_not_the_triangle(self, tmp_path: Path) -> None:
        """In a picture of two colours the second rarest is the background, which surrounds the middle."""
        assert both("check_triangle_position", save(triangle((40, 60)), tmp_path / "a.png")) == [0, 1]

    def test_moved_triangle_with_soft_edges_or_a_hole_is_located(self, tmp_path: Path) -> None:
        picture = triangle((100, 60), (800, 480)).resize((200, 120), Image.Resampling.LANCZOS)
        assert metric("check_triangle_position", save(picture, tmp_path / "a.png")).value == 0
        moved = hole(triangle((100, 60)))
        plane = np.array(moved)
        plane[:, :, 3] = 255
        plane[:40, :30, 3] = 0
        assert metric("check_triangle_position", save(Image.fromarray(plane), tmp_path / "b.png")).value == 1

    def test_plain_picture_has_no_triangle(self, tmp_path: Path) -> None:
        plain = save(Image.new("RGB", (50, 50)), tmp_path / "a.png")
        assert both("check_triangle_position", plain) == [0, 0]
        with pytest.raises(EvaluatorFailed):
            metric("compare_triangle_positions", plain, plain)

    def test_nearer_to_the_middle(self, tmp_path: Path) -> None:
        far, near = (save(triangle((x, 60)), tmp_path / f"{x}.png") for x in (30, 90))
        assert both("compare_triangle_positions", far, near) == [1, 0]
        assert both("compare_triangle_positions", near, far) == [0, 0]


class TestLists:
    NAME = "compare_image_list"

    def test_missing_results_score_0(self, original: str) -> None:
        assert both(self.NAME, [], [original]) == [0, 1]
        assert both(self.NAME, [original, None], [original, original]) == [0, 0]
        assert both(self.NAME, [original], [original, original]) == [0, 1]
        assert both(self.NAME, original, original) == [1, 1]

    def test_missing_expectations_give_no_verdict(self, original: str) -> None:
        for nothing in ([], None, [None]):
            with pytest.raises(EvaluatorFailed):
                metric(self.NAME, [original], nothing)

    def test_colours_of_pictures_with_transparency(self, tmp_path: Path) -> None:
        gold = save(scene().convert("RGBA"), tmp_path / "gold.png")
        mine = save(vivid(scene(), 0.5).convert("RGBA"), tmp_path / "mine.png")
        assert both(self.NAME, mine, gold) == [0, 1]
        assert both(self.NAME, save(scene(), tmp_path / "plain.png"), gold) == [1, 1]

    def test_palette_picture_equals_its_rgb_copy(self, tmp_path: Path) -> None:
        gold = save(scene().quantize(16), tmp_path / "gold.png")
        mine = save(scene().quantize(16).convert("RGB"), tmp_path / "mine.png")
        assert metric(self.NAME, mine, gold).value == 1


class TestMirror:
    def test_mirror_verdicts_equal_upstreams(self, original: str, tmp_path: Path) -> None:
        turned = scene().transpose(Image.Transpose.FLIP_LEFT_RIGHT)
        assert both("check_image_mirror", save(turned, tmp_path / "a.png"), original) == [1, 1]
        assert both("check_image_mirror", save(blurred(turned), tmp_path / "b.png"), original) == [0, 0]
        upside_down = scene().transpose(Image.Transpose.FLIP_TOP_BOTTOM)
        assert both("check_image_mirror", save(upside_down, tmp_path / "c.png"), original) == [0, 0]


class TestGreen:
    NAME = "check_green_background"

    def test_pictures_that_are_not_square(self, tmp_path: Path) -> None:
        gold = save(object_on((255, 255, 255)), tmp_path / "gold.png")
        assert both(self.NAME, save(object_on((10, 200, 30)), tmp_path / "a.png"), gold) == [1, 0]

    def test_green_background_of_square_pictures_is_judged_per_pixel(self, tmp_path: Path) -> None:
        gold = save(object_on((255, 255, 255), (40, 40)), tmp_path / "gold.png")
        green = object_on((10, 200, 30), (40, 40))
        assert both(self.NAME, save(green, tmp_path / "a.png"), gold) == [1, 1]
        green.putpixel((39, 0), (255, 255, 255))
        assert both(self.NAME, save(green, tmp_path / "b.png"), gold) == [0, 0]

    def test_original_without_background_gives_no_verdict(self, tmp_path: Path) -> None:
        black = save(Image.new("RGB", (20, 20)), tmp_path / "gold.png")
        with raises_code(EvaluatorFailed, "invalid_reference"):
            metric(self.NAME, black, black)


class TestSizes:
    def test_transparent_margin_is_ignored_only_on_request(self, tmp_path: Path) -> None:
        canvas = Image.new("RGBA", (300, 200), (0, 0, 0, 0))
        canvas.paste(scene(), (50, 20))
        mine = save(canvas, tmp_path / "a.png")
        assert both("check_image_size", mine, {"height": 64, "ignore_transparent": True}) == [1, 1]
        assert both("check_image_size", mine, {"height": 64}) == [0, 0]
        assert both("check_image_size", mine, {"height": 200, "width": 300}) == [1, 1]

    def test_margin_of_one_transparent_colour_counts_without_request(self, tmp_path: Path) -> None:
        palette = Image.new("P", (30, 20))
        palette.paste(1, (5, 5, 15, 15))
        mine = save(palette, tmp_path / "a.png", transparency=0)
        assert both("check_image_size", mine, {"height": 20}) == [1, 0]
        assert both("check_image_size", mine, {"height": 10, "ignore_transparent": True}) == [1, 1]

    @pytest.mark.parametrize("rules", [{}, {"height": "64"}, None, {"ignore_transparent": True}])
    def test_invalid_rules_give_no_verdict(self, rules: Any, original: str) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("check_image_size", original, rules)

    def test_a_small_file_that_is_not_a_picture(self, tmp_path: Path) -> None:
        empty = tmp_path / "compressed.jpeg"
        empty.write_bytes(b"")
        assert both("check_image_file_size", str(empty), {"max_size": 600000}) == [0, 1]

    def test_file_of_exactly_the_maximum_size_fails(self, original: str) -> None:
        size = os.path.getsize(original)  # noqa: PTH202 - as upstream measures it.
        assert both("check_image_file_size", original, {"max_size": size}) == [0, 0]
        assert both("check_image_file_size", original, {"max_size": size + 1}) == [1, 1]


class TestText:
    def test_colours_behind_transparency_are_not_dark(self, tmp_path: Path) -> None:
        picture = text_at(60).convert("RGBA")
        plane = np.array(picture)
        plane[:, :20] = 0
        assert both("check_textbox_on_leftside", save(Image.fromarray(plane), tmp_path / "a.png")) == [0, 1]

    @pytest.mark.parametrize(("left", "value"), [(0, 1), (9, 1), (10, 0), (100, 0)])
    def test_text_must_begin_in_the_left_twentieth(self, left: int, value: float, tmp_path: Path) -> None:
        assert both("check_textbox_on_leftside", save(text_at(left), tmp_path / "a.png")) == [value, value]


GIMPRC = """# GIMP gimprc
#
(theme "Light")
(undo-levels 100)
(layer-new-name "My (new) Square")
(tool-info "gimp-move-tool"
    (visible yes))
(hide-docks yes) # (hide-docks no)
(color-display (gamma 2.2))
(history-item "filters-vignette" 1)
"""


class TestSettings:
    @pytest.mark.parametrize(
        ("key", "value", "ours", "upstream"),
        [
            ("theme", '"Light"', 1, 1),
            ("theme", '"Dark"', 0, 0),
            ("undo-levels", "100", 1, 1),
            ("hide-docks", "yes", 1, 0),  # Upstream takes a comment at the end of the line for the value.
            ("layer-new-name", '"My (new) Square"', 1, 0),  # ... and cuts texts at their spaces.
            (["history-item", '"filters-vignette"'], "1", 1, 1),
            (["history-item", '"filters-blur"'], "1", 0, 0),
            ("visible", "yes", 1, 1),
            ("unset", "yes", 0, 0),
        ],
    )
    def test_settings_are_compared_by_gimps_grammar(
        self, key: Any, value: str, ours: float, upstream: float, tmp_path: Path
    ) -> None:
        file = tmp_path / "gimprc"
        file.write_text(GIMPRC)
        assert both("check_config_status", str(file), {"type:": "key-value", "key": key, "value": value}) == [
            ours,
            upstream,
        ]

    def test_last_setting_of_a_key_counts(self, tmp_path: Path) -> None:
        file = tmp_path / "gimprc"
        file.write_text("(undo-levels 100)\n(undo-levels 5)\n")
        assert both("check_config_status", str(file), {"key": "undo-levels", "value": "100"}) == [0, 1]

    @pytest.mark.parametrize(
        "rules", [{}, {"key": "a"}, {"key": ["a", "b", "c"], "value": "1"}, {"key": 1, "value": "x"}]
    )
    def test_invalid_rules_give_no_verdict(self, rules: Any, tmp_path: Path) -> None:
        with pytest.raises(EvaluatorFailed):
            metric("check_config_status", str(tmp_path / "gimprc"), rules)

    @settings(max_examples=50, deadline=None)
    @given(st.text(alphabet='()"#\\ \nab1', max_size=60))
    def test_any_text_can_be_read(self, text: str) -> None:
        assert all(
            entry.words[-1:] == [entry.last] or len(entry.words) == 16 for entry in read_entries(text) if entry.words
        )

    def test_deeply_nested_settings_are_bounded(self) -> None:
        assert len(read_entries("(" * 100_000)) == 200


class TestFolder:
    def test_file_names_outside_the_folder_are_rejected(self, tmp_path: Path) -> None:
        for name in ("../etc/passwd", "/etc/passwd", "", "a\\b"):
            with pytest.raises(EvaluatorFailed):
                metric("check_file_exists", str(tmp_path), name)

    def test_link_outside_the_folder_is_rejected(self, tmp_path: Path) -> None:
        (tmp_path / "secret").write_text("x")
        folder = tmp_path / "folder"
        folder.mkdir()
        (folder / "export.jpg").symlink_to(tmp_path / "secret")
        assert metric("check_file_exists", str(folder), "export.jpg").value == 0


class TestPictures:
    def test_picture_with_a_huge_header_is_rejected(self, tmp_path: Path) -> None:
        file = huge_header(tmp_path / "a.png")
        assert read_picture(file) == (None, "the picture is too large: it has more than 64 million pixels")

    def test_gimp_project_is_rejected(self, tmp_path: Path) -> None:
        project = tmp_path / "a.png"
        project.write_bytes(b"gimp xcf v011\0" + bytes(50))
        assert "GIMP project" in read_picture(str(project))[1]
        assert metric("check_structure_sim", str(project), save(scene(), tmp_path / "b.png")).value == 0

    @pytest.mark.parametrize("kind", ["png", "jpg", "gif", "bmp", "tiff", "webp", "ppm", "tga"])
    def test_every_picture_format_is_read(self, kind: str, tmp_path: Path) -> None:
        picture, reason = read_picture(save(scene(), tmp_path / f"a.{kind}"))
        assert picture is not None, reason
        assert picture.size == (96, 64)
