"""Transforms the screenshot for the agent (`RunConfig.image`): scaled, fitted, beside the last one (protocols §3, §9).

The trajectory stores the original screenshot and the picture shown to the agent. How points of the picture map back is
in `ScreenView`: the middle of every pixel of the screen maps to a point of the picture and back to the same pixel, and
the middle of every pixel of a smaller picture maps to the screen pixel under it.
"""

from collections.abc import Sequence
from typing import TYPE_CHECKING

from pydantic import BaseModel

from backend.domain.model.run import ImageView
from backend.domain.model.trajectory import Action, ActionType, Frame, Mark, Observation, ScreenView
from backend.domain.ports.agent import ObservationSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.screen.pictures import decode, encode

if TYPE_CHECKING:
    from PIL.Image import Image

Box = tuple[int, int, int, int]
_AROUND = 20
"""Pixels of the screen to each side of a click that hit no marked element."""
_RED = (255, 0, 0)


def changes(image: ImageView | None) -> bool:
    """Whether the picture is to be made another one at all."""
    return image is not None and (image.fit is not None or image.beside_previous or image.scale < 1.0)


def view_of(image: ImageView, width: int, height: int, *, beside: bool = False) -> ScreenView:
    """Position of a screen of that size in the picture.

    Args:
        image: how it is made ready. Pictures are never enlarged.
        width: of the screen in pixels.
        height: likewise.
        beside: whether the previous screen is to its left.
    """
    if image.fit is None:
        inner = max(1, round(width * image.scale)), max(1, round(height * image.scale))
        outer = inner
    else:
        factor = min(1.0, image.fit[0] / width, image.fit[1] / height)
        inner = max(1, round(width * factor)), max(1, round(height * factor))
        outer = image.fit
    left = (outer[0] - inner[0]) // 2 + (outer[0] if beside else 0)
    top = (outer[1] - inner[1]) // 2
    return ScreenView(
        width=outer[0] * (2 if beside else 1),
        height=outer[1],
        left=left,
        top=top,
        right=left + inner[0],
        bottom=top + inner[1],
        screen_width=width,
        screen_height=height,
    )


def in_view(frame: Frame, view: ScreenView | None) -> Frame:
    """A picture of the screen where the view has the screen, on black: an unmarked one as large as the marked one."""
    if view is None:
        return frame
    return encode(_render(decode(frame), view))


def clicked_box(actions: Sequence[Action], marks: Sequence[Mark] | None) -> Box | None:
    """Target of a decision's last click: the smallest marked element there, else a square around the point.

    Returns:
        Left, top, right, bottom in pixels of the screen; None where nothing was clicked, or where is not known.
    """
    point: tuple[int, int] | None = None
    box: Box | None = None
    for action in actions:
        if action.x is not None and action.y is not None:
            point = action.x, action.y
        if action.type in {ActionType.CLICK, ActionType.MOUSE_DOWN} and point is not None:
            box = _around(*point, marks or ())
    return box


def _around(x: int, y: int, marks: Sequence[Mark]) -> Box:
    hit = [mark for mark in marks if mark.x <= x < mark.x + mark.width and mark.y <= y < mark.y + mark.height]
    if not hit:
        return x - _AROUND, y - _AROUND, x + _AROUND, y + _AROUND
    least = min(hit, key=lambda element: element.width * element.height)
    return least.x, least.y, least.x + least.width - 1, least.y + least.height - 1


class PictureSpace:
    """Another space, whose pictures are made ready."""

    def __init__(self, inner: ObservationSpace, image: ImageView) -> None:
        """Args: inner: what sees; image: how its pictures are made ready."""
        self._inner = inner
        self._image = image
        self._before: Observation | None = None
        self._clicked: Box | None = None
        self.Params: type[BaseModel] = inner.Params
        self.about = inner.about
        self.shows_frame = inner.shows_frame

    def acted(self, actions: Sequence[Action]) -> None:
        """See the port. Remembers what was clicked."""
        self._clicked = clicked_box(actions, self._before.marks if self._before is not None else None)
        self._inner.acted(actions)

    def observe(self, desktop: Desktop, index: int) -> Observation:
        observation = self._inner.observe(desktop, index)
        if not self.shows_frame or observation.picture is None:
            return observation
        result = self._ready(observation, observation.picture)
        self._before = observation
        return result

    def _ready(self, observation: Observation, picture: Frame) -> Observation:
        before = self._before.frame if self._before is not None and self._image.beside_previous else None
        view = view_of(self._image, picture.width, picture.height, beside=before is not None)
        canvas = _render(decode(picture), view)
        if before is not None:
            self._put_before(canvas, before)
        previous = observation.previous
        if previous is not None:
            alone = view_of(self._image, previous.width, previous.height)
            previous = in_view(previous, alone)
        return observation.model_copy(update={"agent_view": encode(canvas), "view": view, "previous": previous})

    def _put_before(self, canvas: "Image", before: Frame) -> None:
        """The screen before with a red box, in the left half."""
        picture = decode(before)
        view = view_of(self._image, before.width, before.height)
        half = _render(picture, view)
        if self._clicked is not None:
            _box(half, view, self._clicked)
        canvas.paste(half, (0, 0))


def _render(picture: "Image", view: ScreenView) -> "Image":
    from PIL import Image

    size = round(view.right - view.left), round(view.bottom - view.top)
    scaled = picture if size == picture.size else picture.resize(size, Image.Resampling.BICUBIC)
    if (view.width, view.height) == size:
        return scaled
    canvas = Image.new("RGB", (view.width, view.height))
    canvas.paste(scaled, (round(view.left), round(view.top)))
    return canvas


def _box(picture: "Image", view: ScreenView, box: Box) -> None:
    """Two pixels of red, after scaling, so that they are seen at any scale."""
    from PIL import ImageDraw

    left, top = view.from_screen(box[0], box[1])
    right, bottom = view.from_screen(box[2], box[3])
    ImageDraw.Draw(picture).rectangle((left, top, max(left, right), max(top, bottom)), outline=_RED, width=2)
