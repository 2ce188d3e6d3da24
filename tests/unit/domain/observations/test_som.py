import io
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from PIL import Image
from pydantic import ValidationError

from backend.domain.errors import ClusterLost, GuestLost, ModelApiFailed
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame, Mark, Observation, Window
from backend.domain.observations._dom import page_origin, window_of
from backend.domain.observations._som import MarkOptions
from backend.domain.observations.set_of_marks import SetOfMarks
from backend.domain.observations.waa import Waa
from backend.domain.ports.web import Tab
from tests.error_codes import raises_code
from tests.factories.trees import node, tree
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop, FakeWindow
from tests.fakes.element_detectors import FakeEyes

SAVE = node("push-button", "Save", at=(44, 44), size=(80, 30))
PAGE = "http://shop.example/"


def row(text: str, *box: float, tag: str = "button", role: str = "") -> list[Any]:
    return [tag, role, text, *box]


class Case:
    """A desktop with one window, and scripted perception."""

    def __init__(self) -> None:
        self.desktop = FakeDesktop(ScreenSize(width=640, height=480))
        self.desktop.open_windows.append(FakeWindow(title="Shop - Chromium", wm_class="chromium.Chromium"))
        self.desktop.tree = tree(SAVE)
        self.browser = FakeBrowser({PAGE: "<title>Shop</title>"})
        self.eyes = FakeEyes(self.browser)

    def page(self, *rows: list[Any], width: float = 400, height: float = 160, ratio: float = 1) -> None:
        self.browser.open(PAGE)
        told = {"width": width, "height": height, "ratio": ratio, "found": list(rows)}
        self.browser.on_evaluate = lambda _tab, _expression: told

    def seen(self, *sources: str, **more: Any) -> Observation:
        return SetOfMarks(MarkOptions(sources=sources or ("tree",), **more), self.eyes).observe(self.desktop, 0)

    def marks(self, *sources: str, **more: Any) -> Sequence[Mark]:
        return self.seen(*sources, **more).marks or ()


@pytest.fixture
def case() -> Case:
    return Case()


def boxes(marks: Sequence[Mark]) -> list[tuple[str, int, int, int, int]]:
    return [(mark.text, mark.x, mark.y, mark.width, mark.height) for mark in marks]


class TestOptions:
    @pytest.mark.parametrize(
        "wrong",
        [{"sources": ()}, {"sources": ("tree", "tree")}, {"sources": ("detector",)}, {"detector": "omni"},
         {"sources": ("x",)},
         {"detector": "http://a/", "sources": ("detector",)}, {"ocr_language": "eng; rm"}, {"ocr_language": "--psm"},
         {"threshold": 0}, {"max_marks": 0}, {"unknown": 1}],
    )  # fmt: skip
    def test_wrong_ones_are_refused(self, wrong: dict[str, Any]) -> None:
        with pytest.raises(ValidationError):
            MarkOptions.model_validate(wrong)

    def test_a_mixture(self) -> None:
        asked = {"sources": ["tree", "dom", "ocr", "detector"], "detector": "omni", "ocr_language": "eng+chi_sim"}
        assert MarkOptions.model_validate(asked).sources == ("tree", "dom", "ocr", "detector")


class TestTree:
    def test_clickable_elements_are_marked(self, case: Case) -> None:
        seen = case.seen()
        assert boxes(seen.marks or ()) == [("Save", 44, 44, 80, 30)]
        assert [(mark.id, mark.kind, mark.origin, mark.tag, mark.name) for mark in seen.marks or ()] == [
            (1, "control", "tree", "push-button", "Save")
        ]
        assert seen.a11y_tree == case.desktop.tree
        assert seen.windows

    def test_the_screen_itself_stays_unmarked(self, case: Case) -> None:
        seen = case.seen()
        assert seen.frame == case.desktop.frame()
        assert seen.agent_view
        marked, plain = (
            np.asarray(Image.open(io.BytesIO(each.data))).astype(int) for each in (seen.agent_view, seen.frame)
        )
        assert np.abs(marked[44:74, 44:124] - plain[44:74, 44:124]).max() > 100
        assert np.abs(marked[300:] - plain[300:]).max() < 40

    @pytest.mark.parametrize(
        ("tag", "kind"),
        [("label", "text"), ("heading", "text"), ("icon", "icon"), ("image", "image"), ("menu-item", "control")],
    )
    def test_kinds(self, case: Case, tag: str, kind: str) -> None:
        case.desktop.tree = tree(node(tag, "x", at=(44, 44), size=(80, 30)))
        assert [mark.kind for mark in case.marks()] == [kind]

    def test_where_nothing_shows_nothing_is_marked(self, case: Case) -> None:
        case.desktop.tree = tree(SAVE, node("label", "ghost", at=(500, 400), size=(50, 30)))
        assert [mark.text for mark in case.marks()] == ["Save"]
        assert [mark.text for mark in case.marks(plain=True)] == ["Save", "ghost"]

    def test_number_of_marks_is_limited(self, case: Case) -> None:
        case.desktop.tree = tree(*(node("link", f"n{i}", at=(i, 3 * i), size=(9, 2)) for i in range(100)))
        assert [mark.id for mark in case.marks(plain=True, max_marks=7)] == list(range(1, 8))

    def test_a_damaged_tree_is_the_desktops_failure(self, case: Case) -> None:
        case.desktop.tree = "<desktop"
        with pytest.raises(GuestLost):
            case.seen()


class TestDom:
    def test_boxes_are_on_the_screen(self, case: Case) -> None:
        case.page(row("Buy  now", 10, 20, 60, 40), row("more", 0, 0, 9, 9, tag="a", role="link"))
        result = case.marks("dom", plain=True)
        # The window is 400x200 at (40, 40); its page is 400x160, so that it begins 40 pixels below the window's top.
        assert boxes(result) == [("Buy now", 50, 100, 50, 20), ("more", 40, 80, 9, 9)]
        assert [(mark.origin, mark.tag) for mark in result] == [("dom", "button"), ("dom", "link")]

    def test_a_page_in_larger_pixels(self, case: Case) -> None:
        case.page(row("Buy", 10, 20, 60, 40), width=196, height=78, ratio=2)
        assert boxes(case.marks("dom", plain=True)) == [("Buy", 64, 120, 100, 40)]

    def test_covered_elements_are_not_marked(self, case: Case) -> None:
        case.page(row("Buy", 10, 20, 60, 40), row("far", 300, 100, 340, 120))
        case.desktop.open_windows.append(FakeWindow(title="editor", x=60, y=90, width=60, height=60))
        assert [mark.text for mark in case.marks("dom", plain=True)] == ["far"]

    def test_no_browser_is_not_a_failure(self, case: Case) -> None:
        case.browser.running = False
        seen = case.seen("dom")
        assert (seen.marks, seen.note) == ((), "")

    def test_a_page_that_does_not_show_has_none(self, case: Case) -> None:
        case.browser.open(PAGE)
        case.browser.on_evaluate = lambda _tab, _expression: None
        assert case.marks("dom") == ()

    def test_a_page_that_hangs_is_reported(self, case: Case) -> None:
        from backend.domain.errors import GuestRefused

        def hang(_tab: Tab, _expression: str) -> None:
            raise GuestRefused("too long", kind="timeout")

        case.browser.open(PAGE)
        case.browser.on_evaluate = hang
        assert "Shop" in case.seen("dom").note

    @pytest.mark.parametrize(
        "told",
        [
            "text",
            7,
            [],
            {},
            {"width": "wide", "height": 1, "ratio": 1},
            {"width": float("inf"), "height": 5, "ratio": 1, "found": []},
            {"width": 400, "height": 160, "ratio": 1, "found": "no"},
            {"width": 400, "height": 160, "ratio": -1, "found": []},
            {"width": 400, "height": 160, "ratio": 1, "found": [None, 5, [], ["a"] * 7, ["a", "b", "c", 5, 5, 1, 1]]},
            {"width": 400, "height": 160, "ratio": 1, "found": [["a", "b", "c", -1e300, True, -5, float("nan")]]},
        ],
    )
    def test_a_hostile_page_marks_nothing(self, case: Case, told: Any) -> None:
        case.browser.open(PAGE)
        case.browser.on_evaluate = lambda _tab, _expression: told
        assert case.marks("dom", plain=True) == ()

    def test_a_page_with_too_much_is_cut(self, case: Case) -> None:
        case.page(*(row("x" * 10_000, i % 390, i % 150, i % 390 + 5, i % 150 + 5) for i in range(5000)))
        result = case.marks("dom", plain=True, max_marks=2000, overlap="none")
        assert len(result) == 2000
        assert len(result[0].text) == 200


class TestPlaced:
    WINDOW = Window(title="Shop - Chromium", wm_class="chromium.Chromium", x=10, y=10, width=945, height=1060)

    def test_the_bars_of_a_browser_lie_above_the_page(self) -> None:
        """Figures of Debian's Chromium on the local desktop: its page began at (14, 97)."""
        assert page_origin(self.WINDOW, 937, 969, 1) == (14, 97)

    def test_a_page_larger_than_its_window_begins_with_it(self) -> None:
        assert page_origin(self.WINDOW, 2000, 2000, 1) == (10, 10)

    def test_the_window_with_the_pages_title(self) -> None:
        other = self.WINDOW.model_copy(update={"title": "News - Chromium"})
        editor = Window(title="Shop", wm_class="mousepad")
        assert window_of(Tab(id="1", url="u", title="Shop"), [self.WINDOW, other, editor]) == self.WINDOW
        assert window_of(Tab(id="1", url="u", title="Else"), [self.WINDOW, other, editor]) == other
        assert window_of(Tab(id="1", url="u", title="Shop"), [editor]) is None


class TestOcr:
    def test_lines_are_marked(self, case: Case) -> None:
        case.eyes.text = [{"text": "Total 5", "bbox": [50, 60, 110, 75]}]
        seen = case.seen("ocr", plain=True, ocr_language="deu")
        assert boxes(seen.marks or ()) == [("Total 5", 50, 60, 60, 15)]
        assert [(mark.origin, mark.kind) for mark in seen.marks or ()] == [("ocr", "text")]
        assert (case.eyes.asked, seen.a11y_tree) == (["deu"], None)

    def test_a_timeout_is_reported(self, case: Case) -> None:
        case.eyes.text = None
        seen = case.seen("tree", "ocr")
        assert [mark.text for mark in seen.marks or ()] == ["Save"]
        assert "could not be read in time" in seen.note

    def test_no_tesseract_loses_the_attempt(self, case: Case, monkeypatch: pytest.MonkeyPatch) -> None:
        def missing(picture: Frame, language: str = "eng") -> None:
            raise ClusterLost("marking text needs Tesseract, which is not installed")

        monkeypatch.setattr(case.eyes, "read", missing)
        with raises_code(ClusterLost, "lost", mentions="Tesseract"):
            case.seen("ocr")


class TestDetector:
    def test_shares_become_pixels(self, case: Case) -> None:
        case.eyes.detectors["omni"] = [
            {"type": "icon", "bbox": [0.1, 0.1, 0.2, 0.15], "content": "a gear", "interactivity": True},
            {"type": "text", "bbox": [0.5, 0.5, 1.5, 0.6], "content": None},
            {"type": "strange", "bbox": [0.9, 0.9, 0.9, 0.9], "content": "nothing"},
        ]
        result = case.marks("detector", detector="omni", plain=True)
        assert boxes(result) == [("a gear", 64, 48, 64, 24), ("", 320, 240, 320, 48)]
        assert [mark.kind for mark in result] == ["icon", "text"]

    @pytest.mark.parametrize(
        "wrong", [{}, {"bbox": None}, {"bbox": [1, 2]}, {"bbox": ["a"] * 4}, {"bbox": [float("nan")] * 4}]
    )
    def test_nonsense_is_the_detectors_failure(self, case: Case, wrong: Any) -> None:
        case.eyes.detectors["omni"] = [wrong]
        with pytest.raises(ModelApiFailed):
            case.seen("detector", detector="omni")

    def test_unknown_detector_is_refused(self, case: Case) -> None:
        with pytest.raises(ModelApiFailed):
            case.seen("detector", detector="other")


class TestMixture:
    def test_the_trees_element_counts_where_they_overlap(self, case: Case) -> None:
        case.eyes.text = [{"text": "Save", "bbox": [50, 50, 100, 70]}, {"text": "alone", "bbox": [200, 60, 260, 75]}]
        case.eyes.detectors["omni"] = [{"type": "icon", "bbox": [0.07, 0.1, 0.19, 0.15], "content": "disk"}]
        result = case.marks("detector", "ocr", "tree", detector="omni", plain=True)
        assert [(mark.id, mark.text, mark.origin) for mark in result] == [(1, "Save", "tree"), (2, "alone", "ocr")]


class TestWithoutEyes:
    def test_missing_perception_tools_are_reported(self) -> None:
        with raises_code(ClusterLost, "perception_not_available"):
            SetOfMarks(MarkOptions(sources=("dom",))).observe(FakeDesktop(), 0)


class TestWaa:
    def test_observation_contains_everything(self, case: Case) -> None:
        case.page(row("Buy", 100, 20, 160, 40))
        case.desktop.clipboard_text = "copied"
        space = Waa(eyes=case.eyes)
        first, second = space.observe(case.desktop, 0), space.observe(case.desktop, 1)
        assert [mark.origin for mark in second.marks or ()] == ["tree"]
        assert (second.clipboard, second.tabs, second.previous) == ("copied", ("Shop",), first.frame)
        assert second.windows
        assert second.windows[-1].active
        assert first.previous is None
