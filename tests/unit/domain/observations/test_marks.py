from typing import Any

import pytest

from backend.domain.observations._marks import Element, merge_elements, number_marks, on_screen


def element(text: str, x: int, y: int, width: int = 100, height: int = 20, **more: Any) -> Element:
    return Element("control", text, x, y, width, height, **{"origin": "tree", **more})


def texts(found: list[Element]) -> list[str]:
    return [each.text for each in found]


SAVE = element("Save", 10, 10, name="Save", tag="push-button")
READ = element("Save it", 12, 11, 90, 18, origin="ocr")
FAR = element("Elsewhere", 500, 300, origin="ocr")


class TestOnScreen:
    def test_elements_on_the_screen_stay(self) -> None:
        assert on_screen(SAVE, 640, 480) == SAVE

    def test_elements_across_the_edge_are_clipped(self) -> None:
        result = on_screen(element("x", 600, -5), 640, 480)
        assert result is not None
        assert (result.x, result.y, result.width, result.height) == (600, 0, 40, 15)

    @pytest.mark.parametrize("place", [(640, 0), (0, 480), (-100, 0), (0, -20)])
    def test_elements_off_the_screen_are_dropped(self, place: tuple[int, int]) -> None:
        assert on_screen(element("x", *place), 640, 480) is None


class TestMerged:
    def test_the_trees_element_counts_whatever_order_was_asked_for(self) -> None:
        assert texts(merge_elements([[READ, FAR], [SAVE]], "inside", 0.7)) == ["Save", "Elsewhere"]

    def test_first_of_two_overlapping_elements_wins(self) -> None:
        seen = element("icon", 12, 11, 90, 18, origin="detector")
        assert texts(merge_elements([[READ], [seen]], "inside", 0.7)) == ["Save it"]
        assert texts(merge_elements([[seen], [READ]], "inside", 0.7)) == ["icon"]

    def test_the_same_box_twice_in_one_source_is_one(self) -> None:
        assert texts(merge_elements([[SAVE, element("label", 10, 10)]], "inside", 0.7)) == ["Save"]

    def test_a_part_of_another_in_one_source_stays(self) -> None:
        cell = element("cell", 20, 12, 10, 10)
        assert texts(merge_elements([[SAVE, cell]], "inside", 0.7)) == ["Save", "cell"]

    def test_a_word_inside_a_button_is_the_button(self) -> None:
        word = element("Sa", 12, 12, 20, 10, origin="ocr")
        assert texts(merge_elements([[SAVE], [word]], "inside", 0.7)) == ["Save"]
        assert texts(merge_elements([[SAVE], [word]], "iou", 0.7)) == ["Save", "Sa"]

    def test_a_container_displaces_nothing_within_it(self) -> None:
        panel = element("panel", 0, 0, 600, 400, tag="table-cell")
        assert texts(merge_elements([[panel, SAVE], [READ, FAR]], "inside", 0.7)) == ["panel", "Save", "Elsewhere"]

    def test_empty_document_displaces_nothing(self) -> None:
        page = element("page", 0, 0, 600, 400, tag="document-web")
        assert texts(merge_elements([[page], [READ]], "inside", 0.7)) == ["page", "Save it"]

    def test_boxes_that_only_touch_stay(self) -> None:
        beside = element("beside", 100, 10, 100, 20, origin="ocr")
        assert texts(merge_elements([[SAVE], [beside]], "inside", 0.7)) == ["Save", "beside"]

    def test_rule_none_preserves_all(self) -> None:
        assert texts(merge_elements([[READ], [SAVE, SAVE]], "none", 0.7)) == ["Save", "Save", "Save it"]

    def test_no_elements_merge_to_none(self) -> None:
        assert merge_elements([[], []], "inside", 0.7) == []

    @pytest.mark.parametrize("rule", ["inside", "iou"])
    def test_merged_boxes_do_not_overlap(self, rule: Any) -> None:
        """Of two kept elements of different sources none shows what the other does."""
        grid = [element(f"{x},{y}", x * 35, y * 14, 40, 16) for x in range(12) for y in range(12)]
        read = [
            element(f"r{x},{y}", x * 31 + 3, y * 13 + 2, 38, 15, origin="ocr") for x in range(12) for y in range(12)
        ]
        result = merge_elements([grid, read], rule, 0.5)
        kept = [each for each in result if each.origin == "ocr"]
        assert 0 < len(kept) < len(read)
        for one in kept:
            for other in grid:
                across = min(one.x + one.width, other.x + other.width) - max(one.x, other.x)
                down = min(one.y + one.height, other.y + other.height) - max(one.y, other.y)
                common = max(0, across) * max(0, down)
                assert common <= 0.5 * (38 * 15 + 40 * 16 - common)


class TestNumbered:
    def test_counts_from_one_and_cuts(self) -> None:
        first, second = number_marks([SAVE, element("w" * 300, 1, 2), FAR], 2, 200)
        assert (first.id, first.text, first.tag, first.name, first.centre) == (
            1,
            "Save",
            "push-button",
            "Save",
            (60, 20),
        )
        assert (second.id, len(second.text)) == (2, 200)
