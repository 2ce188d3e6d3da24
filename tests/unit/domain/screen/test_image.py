import io
import math

import imagehash
import numpy as np
import pytest
from hypothesis import HealthCheck, example, given, settings
from hypothesis import strategies as st
from PIL import Image, ImageDraw

from backend.domain.model.run import ImageView, ScreenSize
from backend.domain.model.trajectory import Action, ActionType, Frame, Mark, Observation, ScreenView
from backend.domain.observations.a11y_tree import A11yTree
from backend.domain.observations.screenshot import Screenshot
from backend.domain.observations.waa import Waa
from backend.domain.screen.image import PictureSpace, changes, clicked_box, in_view, view_of
from backend.domain.screen.pictures import decode, encode, perceptual_hash
from backend.domain.statistics.alignment import OTHER_SCREEN
from tests.factories.pictures import desktop
from tests.factories.trees import node, tree
from tests.fakes.desktop import FakeDesktop
from tests.fakes.element_detectors import FakeEyes

SCALES = (0.2, 0.4, 0.6, 0.8, 1.0)
SCREEN = ScreenSize(width=640, height=480)
CLICK = Action(type=ActionType.CLICK, x=100, y=200)


def images() -> st.SearchStrategy[ImageView]:
    scaled = st.floats(0.05, 1.0).map(lambda scale: ImageView(scale=scale))
    fitted = st.tuples(st.integers(64, 2048), st.integers(64, 2048)).map(lambda fit: ImageView(fit=fit))
    return st.one_of(scaled, fitted)


def pixels(frame: Frame | None) -> np.ndarray[tuple[int, ...], np.dtype[np.uint8]]:
    assert frame is not None
    return np.asarray(Image.open(io.BytesIO(frame.data)).convert("RGB"))


class TestPerceptualHash:
    def test_screens_that_look_alike_differ_in_few_bits(self) -> None:
        def hashed(data: bytes) -> int:
            value = perceptual_hash(Frame(data=data, media_type="image/jpeg", width=1280, height=720))
            assert value is not None
            return value

        screen, moved = (hashed(desktop("a", 3, pointer)) for pointer in ((640, 360), (300, 200)))
        noise = np.random.default_rng(1).integers(0, 256, (2, 90, 160, 3), dtype=np.uint8)
        one, other = (hashed(encode(Image.fromarray(each)).data) for each in noise)
        assert (screen ^ moved).bit_count() <= 2
        assert (one ^ other).bit_count() >= OTHER_SCREEN
        assert all(0 <= value < 2**64 for value in (screen, one, other))

    def test_is_the_difference_hash_of_the_whole_picture(self) -> None:
        frame = encode(Image.open(io.BytesIO(desktop("a", 3))))
        exact = int(str(imagehash.dhash(Image.open(io.BytesIO(frame.data)))), 16)
        assert (exact ^ (perceptual_hash(frame) or 0)).bit_count() <= 2

    def test_a_damaged_picture_has_none(self) -> None:
        assert perceptual_hash(Frame(data=b"no picture", media_type="image/png", width=4, height=3)) is None


class TestChanges:
    @pytest.mark.parametrize("image", [None, ImageView(), ImageView(scale=1.0)])
    def test_equal_screens_have_no_changes(self, image: ImageView | None) -> None:
        assert not changes(image)

    @pytest.mark.parametrize("image", [ImageView(scale=0.8), ImageView(fit=(9, 9)), ImageView(beside_previous=True)])
    def test_something(self, image: ImageView) -> None:
        assert changes(image)


class TestViewOf:
    def test_scaled(self) -> None:
        view = view_of(ImageView(scale=0.4), 1920, 1080)
        assert (view.width, view.height, view.left, view.top, view.right, view.bottom) == (768, 432, 0, 0, 768, 432)

    def test_fitted_and_padded(self) -> None:
        view = view_of(ImageView(fit=(1024, 1024)), 1920, 1080)
        assert (view.width, view.height) == (1024, 1024)
        assert (view.left, view.top, view.right, view.bottom) == (0, 224, 1024, 800)

    def test_a_small_screen_is_padded_and_not_enlarged(self) -> None:
        view = view_of(ImageView(fit=(1024, 1024)), 640, 480)
        assert (view.right - view.left, view.bottom - view.top) == (640, 480)

    def test_beside_the_one_before(self) -> None:
        view = view_of(ImageView(fit=(1024, 1024)), 1920, 1080, beside=True)
        assert (view.width, view.height, view.left, view.right) == (2048, 1024, 1024, 2048)


class TestMappingBack:
    @pytest.mark.parametrize("scale", SCALES)
    @pytest.mark.parametrize("beside", [False, True])
    def test_every_pixel_of_the_screen_comes_back(self, scale: float, beside: bool) -> None:  # noqa: FBT001
        """All columns and all rows; they are independent of each other."""
        view = view_of(ImageView(scale=scale), 1920, 1080, beside=beside)
        assert [view.to_screen(*view.from_screen(x, 0))[0] for x in range(1920)] == list(range(1920))
        assert [view.to_screen(*view.from_screen(0, y))[1] for y in range(1080)] == list(range(1080))

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(images(), st.integers(320, 4000), st.integers(240, 3000), st.booleans(), st.data())
    @example(ImageView(fit=(1024, 1024)), 1919, 1079, True, None)
    def test_for_any_size_and_way(
        self,
        image: ImageView,
        width: int,
        height: int,
        beside: bool,  # noqa: FBT001
        data: st.DataObject | None,
    ) -> None:
        view = view_of(image, width, height, beside=beside)
        x = data.draw(st.integers(0, width - 1)) if data else width - 1
        y = data.draw(st.integers(0, height - 1)) if data else height - 1
        point = view.from_screen(x, y)
        assert view.to_screen(*point) == (x, y)
        # A model can say whole pixels only: then it is off by less than one pixel of the picture.
        result = view.pixel(*map(math.floor, point))
        across = width / (view.right - view.left)
        down = height / (view.bottom - view.top)
        assert abs(result[0] - x) <= math.ceil(across / 2)
        assert abs(result[1] - y) <= math.ceil(down / 2)

    @settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
    @given(images(), st.integers(320, 4000), st.integers(240, 3000), st.data())
    def test_every_pixel_of_the_picture_comes_back(
        self, image: ImageView, width: int, height: int, data: st.DataObject
    ) -> None:
        view = view_of(image, width, height)
        x = data.draw(st.integers(round(view.left), round(view.right) - 1))
        y = data.draw(st.integers(round(view.top), round(view.bottom) - 1))
        column, row = view.pixel(x, y)
        assert 0 <= column < width
        assert 0 <= row < height
        assert tuple(map(math.floor, view.from_screen(column, row))) == (x, y)

    def test_a_point_on_the_padding_is_off_the_screen(self) -> None:
        view = view_of(ImageView(fit=(1024, 1024)), 1920, 1080)
        assert view.pixel(500, 223)[1] < 0
        assert view.pixel(500, 800)[1] >= 1080

    def test_a_point_on_the_screen_before_is_off_the_screen(self) -> None:
        view = view_of(ImageView(beside_previous=True), 640, 480, beside=True)
        assert view.pixel(639, 10)[0] < 0
        assert view.pixel(640, 10) == (0, 10)

    @pytest.mark.parametrize("scale", SCALES)
    def test_the_picture_shows_a_thing_where_the_view_says(self, scale: float) -> None:
        screen = Image.new("RGB", (1000, 600))
        ImageDraw.Draw(screen).rectangle((700, 400, 740, 440), fill=(255, 255, 255))
        view = view_of(ImageView(scale=scale), 1000, 600)
        seen = np.argwhere(pixels(in_view(encode(screen), view))[:, :, 0] > 200)
        middle = seen.mean(axis=0)
        x, y = view.to_screen(middle[1] + 0.5, middle[0] + 0.5)
        assert abs(x - 720) <= 2
        assert abs(y - 420) <= 2


class TestClickedBox:
    def test_a_square_around_it(self) -> None:
        assert clicked_box([CLICK], None) == (80, 180, 120, 220)

    def test_the_smallest_marked_element_there(self) -> None:
        marks = [
            Mark(id=number, kind="control", x=90, y=190, width=size, height=size, origin="tree")
            for number, size in ((1, 300), (2, 30), (3, 5))
        ]
        assert clicked_box([CLICK], marks) == (90, 190, 119, 219)

    def test_where_the_pointer_had_been_moved(self) -> None:
        moved = Action(type=ActionType.MOVE_TO, x=50, y=60)
        assert clicked_box([moved, Action(type=ActionType.CLICK)], ()) == (30, 40, 70, 80)

    def test_the_last_of_several(self) -> None:
        assert clicked_box([CLICK, Action(type=ActionType.CLICK, x=300, y=300)], ()) == (280, 280, 320, 320)

    @pytest.mark.parametrize("kind", [ActionType.MOVE_TO, ActionType.TYPING, ActionType.PYTHON, ActionType.WAIT])
    def test_actions_without_a_click_have_no_box(self, kind: ActionType) -> None:
        assert clicked_box([Action(type=kind, x=1, y=1, text="x")], ()) is None

    def test_where_is_not_known(self) -> None:
        assert clicked_box([Action(type=ActionType.CLICK)], ()) is None


class TestPictured:
    def test_is_its_inner_space_to_everybody(self) -> None:
        space = PictureSpace(Screenshot(), ImageView(scale=0.5))
        assert (space.about, space.shows_frame, space.Params) == (Screenshot.about, True, Screenshot.Params)

    def test_keeps_the_screen_and_shows_the_scaled(self) -> None:
        seen = PictureSpace(Screenshot(), ImageView(scale=0.5)).observe(FakeDesktop(SCREEN), 3)
        assert (seen.index, seen.frame and seen.frame.width, seen.agent_view and seen.agent_view.width) == (3, 640, 320)
        assert seen.view == ScreenView(
            width=320, height=240, right=320, bottom=240, screen_width=640, screen_height=480
        )
        assert pixels(seen.agent_view).shape == (240, 320, 3)

    def test_a_space_without_a_picture_stays_as_it_is(self) -> None:
        seen = PictureSpace(A11yTree(), ImageView(scale=0.5)).observe(FakeDesktop(SCREEN), 0)
        assert (seen.agent_view, seen.view) == (None, None)

    def test_marks_are_drawn_before_scaling_and_stay_in_pixels_of_the_screen(self) -> None:
        desktop = FakeDesktop(SCREEN)
        desktop.tree = tree(node("push-button", "Save", at=(310, 230), size=(20, 20)))
        space = PictureSpace(Waa(eyes=FakeEyes()), ImageView(scale=0.5))
        seen = space.observe(desktop, 0)
        assert seen.marks
        assert (seen.marks[0].x, seen.marks[0].y) == (310, 230)
        red = pixels(seen.agent_view)[115:125, 155:165].astype(int)
        assert (red[:, :, 0] - red[:, :, 1]).max() > 100

    def test_the_previous_screen_is_made_ready_likewise(self) -> None:
        space = PictureSpace(Waa(eyes=FakeEyes()), ImageView(scale=0.5))
        desktop = FakeDesktop(SCREEN)
        assert space.observe(desktop, 0).previous is None
        previous = space.observe(desktop, 1).previous
        assert previous is not None
        assert previous.width == 320


class TestBesidePrevious:
    @staticmethod
    def seen(space: PictureSpace, desktop: FakeDesktop, *actions: Action) -> Observation:
        space.observe(desktop, 0)
        space.acted(actions)
        return space.observe(desktop, 1)

    def test_the_first_stands_alone(self) -> None:
        seen = PictureSpace(Screenshot(), ImageView(beside_previous=True)).observe(FakeDesktop(SCREEN), 0)
        assert seen.agent_view
        assert (seen.agent_view.width, seen.agent_view.height) == (640, 480)

    def test_then_the_one_before_is_to_the_left(self) -> None:
        desktop = FakeDesktop(SCREEN)
        space = PictureSpace(Screenshot(), ImageView(beside_previous=True))
        space.observe(desktop, 0)
        space.acted(())
        desktop.launch("editor")
        seen = space.observe(desktop, 1)
        both = pixels(seen.agent_view).astype(int)
        assert both.shape == (480, 1280, 3)
        assert abs(both[100, 100] - (30, 60, 90)).max() < 12  # the desktop's ground
        assert abs(both[100, 740] - (240, 240, 240)).max() < 12  # the window

    @pytest.mark.parametrize(
        "image", [ImageView(beside_previous=True), ImageView(beside_previous=True, fit=(512, 512))]
    )
    def test_the_last_click_is_boxed_in_red(self, image: ImageView) -> None:
        seen = self.seen(PictureSpace(Screenshot(), image), FakeDesktop(SCREEN), CLICK)
        both = pixels(seen.agent_view).astype(int)
        red = np.argwhere((both[:, :, 0] > 180) & (both[:, :, 1] < 90) & (both[:, :, 2] < 90))
        red = red[red[:, 1] < 200]  # The fake desktop's pointer is a red dot in the middle.
        before = view_of(image, 640, 480)
        left, top = before.from_screen(80, 180)
        right, bottom = before.from_screen(120, 220)
        assert np.abs(red.min(axis=0) - (top, left)).max() <= 2
        assert np.abs(red.max(axis=0) - (bottom, right)).max() <= 2

    def test_without_a_click_there_is_no_box(self) -> None:
        desktop = FakeDesktop(SCREEN)
        space = PictureSpace(Screenshot(), ImageView(beside_previous=True))
        clicked = pixels(self.seen(space, desktop, CLICK).agent_view)
        space.acted((Action(type=ActionType.TYPING, text="a"),))
        typed = pixels(space.observe(desktop, 2).agent_view)
        assert (clicked[180, 90:110, 0] > 180).all()
        assert (typed[180, 90:110, 0] < 90).all()


class TestDecoded:
    def test_comes_back(self) -> None:
        assert decode(FakeDesktop(SCREEN).frame()).size == (640, 480)
