"""Pictures and trees of demonstrations as agents see them."""

import io
from collections.abc import Sequence
from xml.sax.saxutils import quoteattr

from backend.domain.errors import Invalid
from backend.domain.model.demonstration import Box, DemonstrationStep, Reference, ReferenceAction, ScreenElement
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, Frame

TALLEST = 4320
"""Pixels: what a screen may have at most. Of a taller picture, that of a whole web page, a part is shown."""
PART = 1440
"""Pixels of that part's height."""
_TYPES = {"PNG": "image/png", "JPEG": "image/jpeg"}
_STATE, _COMPONENT = (f"https://accessibility.ubuntu.example.org/ns/{name}" for name in ("state", "component"))


def picture_of(step: DemonstrationStep, data: bytes) -> tuple[Frame, DemonstrationStep]:
    """The step's picture, and the step in its pixels.

    A picture taller than a screen is cut: the part around the right element, and elsewhere what lies above and below
    is left out.

    Raises:
        Invalid: it is not a PNG or JPEG, or no screen has its size.
    """
    from PIL import Image

    try:
        picture = Image.open(io.BytesIO(data), formats=("PNG", "JPEG"))
        width, height, kind = picture.width, picture.height, str(picture.format)
        if height > TALLEST:
            top = _top(step, height)
            step = _shift_step(step, top)
            cut = io.BytesIO()
            picture.convert("RGB").crop((0, top, width, top + PART)).save(cut, "PNG")
            data, height, kind = cut.getvalue(), PART, "PNG"
        ScreenSize(width=width, height=height)
    except (OSError, SyntaxError, ValueError, Image.DecompressionBombError) as error:
        message = f"this is no picture of a screen, PNG or JPEG of 320x240 to 7680x{TALLEST}: {error}"
        raise Invalid(message[:300], code="demonstrations_invalid", path=step.image) from error
    return Frame(data=data, media_type=_TYPES[kind], width=width, height=height), step


def _top(step: DemonstrationStep, height: int) -> int:
    middles = [action.action.y for action in step.reference.actions if action.action.y is not None]
    return max(0, min(height - PART, (middles[0] if middles else 0) - PART // 2))


def _shift_step(step: DemonstrationStep, top: int) -> DemonstrationStep:
    """The step in a picture that begins at `top`; elements outside are left out."""

    def up(box: Box) -> Box:
        return box.model_copy(update={"y": box.y - top})

    def point(action: Action) -> Action:
        return action if action.y is None else action.model_copy(update={"y": action.y - top})

    actions = tuple(
        ReferenceAction(action=point(reference.action), boxes=tuple(map(up, reference.boxes)))
        for reference in step.reference.actions
    )
    reference = Reference(**{**dict(step.reference), "actions": actions})
    elements = [element.model_copy(update={"box": up(element.box)}) for element in step.elements]
    inside = tuple(element for element in elements if element.box.y + element.box.height > 0 and element.box.y < PART)
    return step.model_copy(update={"reference": reference, "elements": inside})


def tree_of(elements: Sequence[ScreenElement]) -> str:
    """Elements as an accessibility tree in OSWorld's form, all showing and enabled; empty without any."""
    if not elements:
        return ""
    lines = [
        f'<{element.role} name={_quote_attribute(element.name)} st:showing="true" st:visible="true" st:enabled="true"'
        f' cp:screencoord="({round(element.box.x)}, {round(element.box.y)})"'
        f' cp:size="({max(1, round(element.box.width))}, {max(1, round(element.box.height))})"/>'
        for element in elements
    ]
    return f'<desktop-frame xmlns:st="{_STATE}" xmlns:cp="{_COMPONENT}">{"".join(lines)}</desktop-frame>'


def _quote_attribute(text: str) -> str:
    """As an attribute, without what XML cannot hold."""
    return quoteattr("".join(letter if letter.isprintable() or letter == " " else " " for letter in text))
