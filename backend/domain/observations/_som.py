"""Base of spaces with a screenshot and numbered elements, which differ in their defaults."""

import re
from collections.abc import Sequence
from typing import Literal, Self

from pydantic import BaseModel, Field, model_validator

from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Frame, Mark, Observation, Window
from backend.domain.observations._dom import clickable
from backend.domain.observations._draw import draw, uneven
from backend.domain.observations._element_sources import from_detector, from_ocr, from_tree
from backend.domain.observations._marks import Element, Overlap, merge_elements, number_marks, on_screen
from backend.domain.observations._space import Extras, ExtraSpace
from backend.domain.ports.desktop import Desktop
from backend.domain.screen.pictures import decode, encode
from backend.domain.screen.tree import read_tree

Source = Literal["tree", "dom", "ocr", "detector"]
_LATE = "The text on the screen could not be read in time, so it is not marked."


class MarkOptions(Extras):
    """Options of sources and marks."""

    sources: tuple[Source, ...] = Field(
        default=("tree",),
        min_length=1,
        description="Sources of elements. Where two elements overlap, the tree's wins, then the first source's.",
    )
    detector: str = Field(
        default="", pattern=re.compile(r"^[A-Za-z0-9_-]{0,50}$"), description="Name of the operator's detector to ask."
    )
    ocr_language: str = Field(
        default="eng",
        pattern=re.compile(r"^[A-Za-z_]{3,20}(\+[A-Za-z_]{3,20}){0,4}$"),
        description="Languages that Tesseract reads.",
    )
    browser_port: int = Field(
        default=9222, ge=1, le=65535, description="Where the desktop's browser listens for DevTools."
    )
    overlap: Overlap = Field(default="inside", description="Rule by which two elements count as one.")
    threshold: float = Field(
        default=0.7, gt=0, lt=1, description="Minimum share of the area that counts as an overlap."
    )
    max_marks: int = Field(default=1000, ge=1, le=2000, description="Maximum marks; further elements are not marked.")
    max_text: int = Field(default=200, ge=1, le=1000, description="Maximum characters of a mark's text.")
    plain: bool = Field(default=False, description="Also marks elements where the screen shows a single colour.")

    @model_validator(mode="after")
    def _whole(self) -> Self:
        if len(set(self.sources)) != len(self.sources):
            raise ValueError("a source is named twice")
        if ("detector" in self.sources) != bool(self.detector):
            raise ValueError("the source `detector` and the name of a detector go together")
        return self


class MarkedSpace(ExtraSpace):
    """The screen with numbered elements, the marks themselves, and the raw tree where it is a source."""

    Params: type[BaseModel] = MarkOptions
    shows_frame = True

    def look(self, desktop: Desktop, index: int) -> Observation:
        """Captures the frame first, then the elements."""
        frame, sources = desktop.frame(), self.params.sources
        tree = read_tree(desktop) if "tree" in sources else None
        windows = tuple(desktop.windows()) if tree is not None or "dom" in sources else None
        layers, notes = [from_tree(tree)] if tree is not None else [], ""
        for source in sources:
            if source != "tree":
                more, words = self._others(source, frame, windows or ())
                layers.append(more)
                notes = f"{notes} {words}".strip()
        marked, marks = mark(frame, layers, self.params)
        return Observation(
            index=index, frame=frame, agent_view=marked, marks=marks, a11y_tree=tree, windows=windows, note=notes
        )

    def _others(self, source: Source, frame: Frame, windows: Sequence[Window]) -> tuple[list[Element], str]:
        eyes = self.looking()
        if source == "dom":
            return clickable(eyes.browser(self.params.browser_port), windows)
        if source == "ocr":
            read = eyes.read(frame, self.params.ocr_language)
            return ([], _LATE) if read is None else (from_ocr(read), "")
        return from_detector(
            eyes.detect(self.params.detector, frame), ScreenSize(width=frame.width, height=frame.height)
        ), ""


def mark(frame: Frame, sources: Sequence[Sequence[Element]], options: MarkOptions) -> tuple[Frame, tuple[Mark, ...]]:
    """The picture with marks, and the marks.

    Args:
        frame: the screen.
        sources: elements per source.
        options: rules and limits.
    """
    picture = decode(frame)
    layers = [
        [part for element in some if (part := on_screen(element, frame.width, frame.height)) is not None]
        for some in sources
    ]
    if not options.plain:
        layers = [uneven(picture, some) for some in layers]
    marks = number_marks(
        merge_elements(layers, options.overlap, options.threshold), options.max_marks, options.max_text
    )
    draw(picture, marks)
    return encode(picture), marks
