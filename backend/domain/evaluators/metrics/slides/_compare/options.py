"""Options of a comparison, and whose rules it follows."""

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

from backend.domain.errors import EvaluatorFailed


@dataclass(frozen=True, slots=True)
class CompareMode:
    """The suite whose verdict is reproduced.

    Attributes:
        waa: WindowsAgentArena's rules, which compare exactly and cover less.
        strict: ignore what upstream ignores.
    """

    waa: bool = False
    strict: bool = False

    @property
    def blind(self) -> bool:
        """WindowsAgentArena exactly: it skips what one of the decks lacks."""
        return self.waa and self.strict


@dataclass(frozen=True, slots=True)
class CompareSlidesOptions:
    """The options of `compare_pptx_files`, with upstream's names (without `examine_`) and defaults.

    Attributes:
        title_bottom_position: the title "Product Comparison" must be lower than expected, with everything else equal.
        table_bottom_position: the table of slide 3 must be lower than expected, with everything else equal.
        right_position: the textless shapes of slide 2 must be further right.
        top_position: the pictures of slide 2 must be higher.
        shape_for_shift_size: geometry, except for one known text.
        image_size: size of pictures, geometry of all else.
        modify_height: height of textless and freeform shapes, geometry of all else.
        shape_lenient_height: the height of shapes with text is not examined (upstream knows no such option).
        tolerance: relative difference of lengths; `approximately_tolerance` upstream.
        manner: the suite whose verdict is reproduced.
    """

    number_of_slides: bool = True
    shape: bool = True
    text: bool = True
    indent: bool = True
    font_name: bool = True
    font_size: bool = True
    font_bold: bool = True
    font_italic: bool = True
    color_rgb: bool = True
    font_underline: bool = True
    strike_through: bool = True
    alignment: bool = True
    title_bottom_position: bool = False
    table_bottom_position: bool = False
    run_count: bool = True
    right_position: bool = False
    top_position: bool = False
    shape_for_shift_size: bool = False
    image_size: bool = False
    modify_height: bool = False
    bullets: bool = True
    background_color: bool = True
    note: bool = True
    shape_lenient_height: bool = False
    tolerance: float = 0.005
    manner: CompareMode = CompareMode()

    @classmethod
    def parse(cls, settings: Mapping[str, Any], manner: CompareMode) -> "CompareSlidesOptions":
        """Parses a task's options. Keys that begin with `_` are remarks; `enable_debug` switches only upstream's log.

        Raises:
            EvaluatorFailed: an unknown option, or a wrong type.
        """
        known = {f"examine_{field.name}": field.name for field in fields(cls) if field.type in {bool, "bool"}}
        options = cls(manner=manner, tolerance=0.0 if manner.waa else cls().tolerance)
        for key, value in settings.items():
            if key.startswith("_") or key == "enable_debug":
                continue
            if key == "approximately_tolerance" and isinstance(value, int | float) and 0 <= value < 1:
                options = replace(options, tolerance=float(value))
            elif key in known and isinstance(value, bool):
                switch: dict[str, Any] = {known[key]: value}
                options = replace(options, **switch)
            else:
                raise EvaluatorFailed(f"option {key}={value!r} of compare_pptx_files is not valid", code="invalid_rule")
        return options
