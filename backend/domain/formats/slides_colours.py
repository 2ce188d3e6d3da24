"""Colours of DrawingML: explicit, of a theme, lightened or darkened. ECMA-376 part 1, section 20.1.2.3."""

import colorsys
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

Colour = tuple[int, int, int]
A = "{http://schemas.openxmlformats.org/drawingml/2006/main}"
P = "{http://schemas.openxmlformats.org/presentationml/2006/main}"
_WHOLE = 100_000  # DrawingML's 100 %
_HSL = (("hue", 360 * 60_000), ("sat", _WHOLE), ("lum", _WHOLE))
_LONG = {"dk": "dark", "lt": "light", "med": "medium"}
_SYSTEM = {"windowText": (0, 0, 0), "window": (255, 255, 255)}


@dataclass(frozen=True)
class Theme:
    """A master's colours.

    Attributes:
        colours: colours by the theme's names: `dk1`, `lt1`, `accent1`, ...
        names: the master's mapping of `bg1`, `tx1`, ... to those.
    """

    colours: Mapping[str, Colour] = field(default_factory=dict)
    names: Mapping[str, str] = field(default_factory=dict)

    def named(self, name: str) -> Colour | None:
        """The colour of a scheme colour; None for placeholders (`phClr`) and unknown ones."""
        return self.colours.get(self.names.get(name, name))


def read_theme(theme: Any, master: Any) -> Theme:
    """The colours of a theme part's root element (None if there is no theme) and of a master's colour map."""
    scheme = theme.find(f".//{A}clrScheme") if theme is not None else None
    colours = {local(entry.tag): colour_in(entry, Theme()) for entry in (scheme if scheme is not None else ())}
    names = master.find(f"{P}clrMap")
    return Theme(
        colours={name: colour for name, colour in colours.items() if colour is not None},
        names=dict(names.attrib) if names is not None else {},
    )


def local(tag: Any) -> str:
    """A tag without its namespace; empty for comments."""
    return tag.rsplit("}", 1)[-1] if isinstance(tag, str) else ""


def colour_in(parent: Any, theme: Theme, placeholder: Colour | None = None) -> Colour | None:
    """The first colour among an element's children (of a `solidFill`, a `buClr`, a gradient's stop).

    Args:
        parent: the element, or None.
        theme: theme that resolves names.
        placeholder: the value of `phClr`.
    """
    for child in parent if parent is not None else ():
        if local(child.tag).endswith("Clr"):
            base = _base(child, theme, placeholder)
            return None if base is None else _apply_changes(base, child)
    return None


def _base(element: Any, theme: Theme, placeholder: Colour | None) -> Colour | None:
    kind, value = local(element.tag), element.get("val", "")
    if kind == "srgbClr":
        return rgb(value)
    if kind == "schemeClr":
        return placeholder if value == "phClr" else theme.named(value)
    if kind == "sysClr":
        return rgb(element.get("lastClr", "")) or _SYSTEM.get(value)
    if kind == "prstClr":
        return _preset(value)
    return _by_channels(element, kind)


def _by_channels(element: Any, kind: str) -> Colour | None:
    """A colour by hue, saturation and lightness, or by linear red, green and blue."""
    if kind == "hslClr":
        hue, saturation, light = (_share(element.get(name, "0"), whole) for name, whole in _HSL)
        red, green, blue = (round(255 * part) for part in colorsys.hls_to_rgb(hue, light, saturation))
        return red, green, blue
    if kind == "scrgbClr":
        red, green, blue = (_linear(element.get(channel, "0")) for channel in "rgb")
        return red, green, blue
    return None


def rgb(text: str) -> Colour | None:
    """`RRGGBB` as numbers; None if it is something else."""
    try:
        data = bytes.fromhex(text)
    except ValueError:
        return None
    return (data[0], data[1], data[2]) if len(data) == 3 else None  # noqa: PLR2004 - red, green, blue.


def _preset(name: str) -> Colour | None:
    from PIL import ImageColor

    for short, word in _LONG.items():
        if name.startswith(short) and name[len(short) : len(short) + 1].isupper():
            name = word + name[len(short) :]
    try:
        red, green, blue = ImageColor.getrgb(name.lower())[:3]
    except ValueError:
        return None
    return red, green, blue


def _share(text: str, whole: int = _WHOLE) -> float:
    """A part of a whole, 0 to 1, written in its units or per cent."""
    return min(1.0, max(0.0, float(text.removesuffix("%")) / (100 if text.endswith("%") else whole)))


def _linear(text: str) -> int:
    share = _share(text)
    gamma = 12.92 * share if share <= 0.0031308 else 1.055 * share ** (1 / 2.4) - 0.055  # noqa: PLR2004 - sRGB's own.
    return round(255 * gamma)


def _apply_changes(colour: Colour, element: Any) -> Colour | None:
    """Applies changes of lightness; None for changes that writers round differently (tint, shade, ...)."""
    hue, light, saturation = colorsys.rgb_to_hls(*(channel / 255 for channel in colour))
    for change in element:
        kind = local(change.tag)
        if kind in {"alpha", ""}:
            continue
        amount = float(change.get("val", "0").removesuffix("%")) / _WHOLE
        if kind == "lumMod":
            light *= amount
        elif kind == "lumOff":
            light += amount
        else:
            return None
    red, green, blue = (
        round(255 * channel) for channel in colorsys.hls_to_rgb(hue, min(1.0, max(0.0, light)), saturation)
    )
    return red, green, blue
