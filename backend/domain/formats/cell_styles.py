"""Formats of cells of an .xlsx workbook: number formats, fonts, fills, and conditional ones.

Colours are returned as aRGB text, whether the file names them by value, by an index or by the theme (ECMA-376 part 1,
18.8.3 and 18.8.19), so that equal colours are equal in files of different programs.
"""

import colorsys
import re
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

NO_COLOUR = "00000000"
BLACK = "FF000000"
_DIGITS = re.compile("[0-9A-F]{6}")
_NO_DATE = re.compile(r'".*?"|\[(?!hh?\]|mm?\]|ss?\])[^\]]*\]')
_PUBLISHED_DATE = re.compile(r"(?<![_\\])[dmhysDMHYS]")
_DATE = re.compile(r"(?<![_\\])(?:[dmhysDMHYS]|e(?![-+\w])|g{1,3}e)")
"""Also `e`, the year of an era."""
_DURATION = re.compile(r"\[hh?\]|\[mm?\]|\[ss?\]", re.IGNORECASE)
BUILT_IN = {
    0: "General", 1: "0", 2: "0.00", 3: "#,##0", 4: "#,##0.00", 5: '"$"#,##0_);("$"#,##0)',
    6: '"$"#,##0_);[Red]("$"#,##0)', 7: '"$"#,##0.00_);("$"#,##0.00)', 8: '"$"#,##0.00_);[Red]("$"#,##0.00)',
    9: "0%", 10: "0.00%", 11: "0.00E+00", 12: "# ?/?", 13: "# ??/??", 14: "mm-dd-yy", 15: "d-mmm-yy", 16: "d-mmm",
    17: "mmm-yy", 18: "h:mm AM/PM", 19: "h:mm:ss AM/PM", 20: "h:mm", 21: "h:mm:ss", 22: "m/d/yy h:mm",
    37: "#,##0_);(#,##0)", 38: "#,##0_);[Red](#,##0)", 39: "#,##0.00_);(#,##0.00)", 40: "#,##0.00_);[Red](#,##0.00)",
    41: r'_(* #,##0_);_(* \(#,##0\);_(* "-"_);_(@_)', 42: r'_("$"* #,##0_);_("$"* \(#,##0\);_("$"* "-"_);_(@_)',
    43: r'_(* #,##0.00_);_(* \(#,##0.00\);_(* "-"??_);_(@_)',
    44: r'_("$"* #,##0.00_)_("$"* \(#,##0.00\)_("$"* "-"??_)_(@_)',
    45: "mm:ss", 46: "[h]:mm:ss", 47: "mmss.0", 48: "##0.0E+0", 49: "@",
}  # fmt: skip
"""Built-in number formats (18.8.30), spelt as in openpyxl, which upstream's rules expect."""
EASTERN = {
    **dict.fromkeys((27, 36, 50, 52, 57), 'yyyy"年"m"月"'), **dict.fromkeys((28, 29, 51, 53, 54, 58), 'm"月"d"日"'),
    30: "m-d-yy", 31: 'yyyy"年"m"月"d"日"', 32: 'h"时"mm"分"', 33: 'h"时"mm"分"ss"秒"',
    34: 'AM/PM h"时"mm"分"', 35: 'AM/PM h"时"mm"分"ss"秒"', 55: 'AM/PM h"时"mm"分"', 56: 'AM/PM h"时"mm"分"ss"秒"',
}  # fmt: skip
"""Built-in formats of Chinese, Japanese and Korean versions, by Chinese; all are dates or times (18.8.30)."""
PALETTE = (
    *("000000", "FFFFFF", "FF0000", "00FF00", "0000FF", "FFFF00", "FF00FF", "00FFFF") * 2,
    "800000", "008000", "000080", "808000", "800080", "008080", "C0C0C0", "808080", "9999FF", "993366", "FFFFCC",
    "CCFFFF", "660066", "FF8080", "0066CC", "CCCCFF", "000080", "FF00FF", "FFFF00", "00FFFF", "800080", "800000",
    "008080", "0000FF", "00CCFF", "CCFFFF", "CCFFCC", "FFFF99", "99CCFF", "FF99CC", "CC99FF", "FFCC99", "3366FF",
    "33CCCC", "99CC00", "FFCC00", "FF9900", "FF6600", "666699", "969696", "003366", "339966", "003300", "333300",
    "993300", "993366", "333399", "333333",
)  # fmt: skip
"""Indexed colours (18.8.27)."""
_SYSTEM = {64: BLACK, 65: "FFFFFFFF"}
_THEME_ORDER = ("lt1", "dk1", "lt2", "dk2", *(f"accent{number}" for number in range(1, 7)), "hlink", "folHlink")


@dataclass(frozen=True)
class Colour:
    """A colour as written in the file (`written`, None if not by value) and its value (`argb`)."""

    argb: str
    written: str | None


@dataclass(frozen=True)
class Font:
    """None = not set, which occurs in conditional formats only."""

    name: str | None = None
    family: float | None = None
    size: float | None = None
    bold: bool | None = None
    italic: bool | None = None
    underline: str | None = None
    colour: Colour | None = None


@dataclass(frozen=True)
class CellFill:
    """`kind` is `patternFill`, `gradientFill` or None; the two colours are the pattern's."""

    kind: str | None = None
    pattern: str | None = None
    front: Colour | None = None
    back: Colour | None = None
    stops: tuple[str, ...] = ()

    @property
    def shown(self) -> str:
        """The visible background colour; for a gradient, all its stops; for a pattern, its name and colours."""
        if self.stops:
            return "gradient " + " ".join(self.stops)
        if self.kind is None or self.pattern in {None, "none"} or (self.front is None and self.back is None):
            return NO_COLOUR
        colours = [NO_COLOUR if colour is None else colour.argb for colour in (self.front, self.back)]
        return colours[0] if self.pattern == "solid" else f"{self.pattern} {' '.join(colours)}"


@dataclass(frozen=True)
class CellFormat:
    """A cell format, or the changes of a conditional format."""

    number_format: str | None = "General"
    font: Font | None = None
    fill: CellFill | None = None


ISO_DATES = 2**24
"""Added to the index of a cell format without a date for a cell that is stored as one (`t="d"`)."""


class CellStyles:
    """The styles part. An unknown index gives the default format."""

    def __init__(self, root: Any, theme: Any) -> None:
        self._root, self._theme = root, theme
        self.has_iso_dates = False
        self._looks: dict[int, CellFormat] = {}

    def look(self, position: int) -> CellFormat:
        """The cell format at an index of `cellXfs`."""
        if position not in self._looks:
            self._looks[position] = self._read(position)
        return self._looks[position]

    def differential(self, position: int) -> CellFormat:
        """The conditional format at an index of `dxfs`."""
        formats = self._all("dxfs/dxf")
        return self.changes(formats[position]) if 0 <= position < len(formats) else CellFormat(number_format=None)

    def changes(self, dxf: Any) -> CellFormat:
        """The changes in a `dxf` element."""
        font, fill, code = dxf.find("{*}font"), dxf.find("{*}fill"), dxf.find("{*}numFmt")
        return CellFormat(
            number_format=None if code is None else code.get("formatCode"),
            font=None if font is None else self._font(font, whole=False),
            fill=None if fill is None else self._fill(fill, conditional=True),
        )

    def is_date(self, position: int, *, published: bool = False) -> bool:
        """Whether the number format is a date or a time of day; `published`: for upstream's reader."""
        if published and self.is_eastern(position):
            return False
        return is_date_format(self.look(position).number_format or "", published=published)

    def is_eastern(self, position: int) -> bool:
        """Whether the number format is built into Eastern versions of spreadsheets only."""
        number = _whole(self._xfs[position].get("numFmtId")) if 0 <= position < len(self._xfs) else 0
        return number in EASTERN and number not in self._own_formats

    @cached_property
    def has_dates(self) -> bool:
        """Whether any cell format is a date or a time."""
        return any(map(self.is_date, range(len(self._xfs))))

    def iso_date(self, position: int) -> int:
        """The index for a cell that is stored as a date: programs show one, whatever its format is."""
        if self.is_date(position):
            return position
        self.has_iso_dates = True
        return position + ISO_DATES

    def is_duration(self, position: int) -> bool:
        """Whether the number format is a duration."""
        return _DURATION.search((self.look(position).number_format or "").split(";")[0]) is not None

    def _all(self, path: str) -> list[Any]:
        steps = "/".join(f"{{*}}{step}" for step in path.split("/"))
        return [] if self._root is None else self._root.findall(steps)

    @cached_property
    def _formats(self) -> dict[int, str]:
        return BUILT_IN | EASTERN | self._own_formats

    @cached_property
    def _own_formats(self) -> dict[int, str]:
        own = [(item.get("numFmtId", "0"), item.get("formatCode", "")) for item in self._all("numFmts/numFmt")]
        return {int(number): code for number, code in own if number.isdecimal()}

    @cached_property
    def _xfs(self) -> list[Any]:
        return self._all("cellXfs/xf")

    @cached_property
    def _fonts(self) -> list[Font]:
        return [self._font(item, whole=True) for item in self._all("fonts/font")]

    @cached_property
    def _fills(self) -> list[CellFill]:
        return [self._fill(item, conditional=False) for item in self._all("fills/fill")]

    def _read(self, position: int) -> CellFormat:
        if ISO_DATES <= position < 2 * ISO_DATES:
            return replace(self.look(position - ISO_DATES), number_format=BUILT_IN[14])
        if not 0 <= position < len(self._xfs):
            return CellFormat(font=Font(), fill=CellFill())
        xf = self._xfs[position]
        font, fill = _whole(xf.get("fontId")), _whole(xf.get("fillId"))
        return CellFormat(
            number_format=self._formats.get(_whole(xf.get("numFmtId")), "General"),
            font=self._fonts[font] if 0 <= font < len(self._fonts) else Font(),
            fill=self._fills[fill] if 0 <= fill < len(self._fills) else CellFill(),
        )

    def _font(self, item: Any, *, whole: bool) -> Font:
        def value(name: str) -> str | None:
            child = item.find(f"{{*}}{name}")
            return None if child is None else child.get("val", "")

        def flag(name: str) -> bool | None:
            text = value(name)
            return (False if whole else None) if text is None else text not in {"0", "false"}

        colour, underline = item.find("{*}color"), value("u")
        return Font(
            name=value("name"),
            family=_number(value("family")),
            size=_number(value("sz")),
            bold=flag("b"),
            italic=flag("i"),
            underline="single" if underline == "" else None if underline == "none" else underline,
            colour=None if colour is None else self.colour(colour),
        )

    def _fill(self, item: Any, *, conditional: bool) -> CellFill:
        gradient, pattern = item.find("{*}gradientFill"), item.find("{*}patternFill")
        if gradient is not None:
            stops = [self.colour(stop).argb for stop in gradient.iterfind("{*}stop/{*}color")]
            return CellFill(kind="gradientFill", stops=tuple(stops))
        if pattern is None:
            return CellFill()
        front, back = (pattern.find(f"{{*}}{name}") for name in ("fgColor", "bgColor"))
        fill = CellFill(
            kind="patternFill",
            pattern=pattern.get("patternType", "solid" if conditional else None),
            front=None if front is None else self.colour(front),
            back=None if back is None else self.colour(back),
        )
        # Conditional fills store a plain background as the pattern's background colour, cells as its foreground colour.
        if conditional and fill.back is not None:
            return CellFill(fill.kind, fill.pattern, fill.back, fill.back)
        return fill

    def colour(self, item: Any) -> Colour:
        """The value of a colour element."""
        written = item.get("rgb")
        if written is not None:
            written = str(written).upper().rjust(8, "0")
            return Colour(_opaque(written), written)
        tint = _number(item.get("tint")) or 0.0
        if item.get("theme") is not None:
            return Colour(_tint(self._theme_colour(_whole(item.get("theme"))), tint), None)
        if item.get("indexed") is not None:
            return Colour(_tint(self._palette_colour(_whole(item.get("indexed"))), tint), None)
        return Colour(BLACK, None)

    def _theme_colour(self, number: int) -> str:
        name = _THEME_ORDER[number] if 0 <= number < len(_THEME_ORDER) else "dk1"
        slot = None if self._theme is None else self._theme.find(f"{{*}}themeElements/{{*}}clrScheme/{{*}}{name}")
        for child in () if slot is None else slot:
            return _opaque(child.get("lastClr") or {"window": "FFFFFF"}.get(child.get("val"), child.get("val")))
        return "FFFFFFFF" if name == "lt1" else BLACK

    def _palette_colour(self, number: int) -> str:
        own = self._all("colors/indexedColors/rgbColor")
        if number in _SYSTEM:
            return _SYSTEM[number]
        if 0 <= number < len(own):
            return _opaque(own[number].get("rgb"))
        return "FF" + PALETTE[number] if 0 <= number < len(PALETTE) else BLACK


def is_date_format(code: str, *, published: bool = False) -> bool:
    """Whether a number format shows dates: it has date or time letters outside texts, colours and locales."""
    letters = _PUBLISHED_DATE if published else _DATE
    return letters.search(_NO_DATE.sub("", code.split(";", maxsplit=1)[0])) is not None


def _opaque(text: str | None) -> str:
    """The last six digits as an opaque colour; black if they are invalid."""
    digits = (text or "").upper()[-6:]
    return f"FF{digits}" if _DIGITS.fullmatch(digits) else BLACK


def _tint(argb: str, tint: float) -> str:
    """Applies a tint to a theme colour: darker below 0, lighter above (18.8.19)."""
    if not tint:
        return argb
    red, green, blue = (int(argb[at : at + 2], 16) / 255 for at in (2, 4, 6))
    hue, light, saturation = colorsys.rgb_to_hls(red, green, blue)
    light = light * (1 + tint) if tint < 0 else light * (1 - tint) + tint
    parts = colorsys.hls_to_rgb(hue, min(1.0, max(0.0, light)), saturation)
    return "FF" + "".join(f"{round(part * 255):02X}" for part in parts)


def _whole(text: str | None) -> int:
    try:
        return int(text or 0)
    except ValueError:
        return 0


def _number(text: str | None) -> float | None:
    try:
        return None if text is None else float(text)
    except ValueError:
        return None
