"""A badge as SVG."""

import unicodedata
from html import escape

from backend.services.sharing.views.badges import BadgeText

HEIGHT, PADDING, BASELINE = 20, 7, 14
SIZE = 11
"""Pixels of the font."""
FONT = "Verdana,DejaVu Sans,Geneva,sans-serif"
LABEL, RANKED, NOT_RANKED = "#3a3e47", "#3733a6", "#62666e"
_WIDTHS = {
    3.2: "'IJijl", 3.6: " ,.·", 3.9: "/:;\\f|-", 4.3: "!()[]rt", 5.3: '"', 5.6: "*_`\u2013csz", 6.3: "?FLkvxy",
    7.0: "$0123456789EPSTabdeghnopqu{}", 7.5: "ABCKRVXYZ", 8.3: "DGHNU", 8.9: "&OQw", 9.3: "#+<=>^~M", 10.5: "%",
    11.0: "@Wm…",
}  # fmt: skip
_WIDTH_OF = {letter: width for width, letters in _WIDTHS.items() for letter in letters}
"""Advance widths of Verdana at 11 pixels. Text is set to the computed width, whatever font a viewer has."""


def text_width(text: str) -> float:
    """Pixels of a text: wide letters of East Asia are as wide as high, marks have no width of their own."""
    return sum(map(_letter_width, unicodedata.normalize("NFC", text)))


def _letter_width(letter: str) -> float:
    if letter in _WIDTH_OF:
        return _WIDTH_OF[letter]
    if unicodedata.category(letter) in {"Mn", "Me", "Cf"}:
        return 0.0
    return float(SIZE) if unicodedata.east_asian_width(letter) in "WF" else 7.0


def badge_svg(badge: BadgeText) -> str:
    """The picture, with its text as its name for screen readers."""
    left, right = (round(text_width(text)) + 2 * PADDING for text in (badge.label, badge.value))
    title = escape(_printable(badge.title))
    colour = RANKED if badge.ranked else NOT_RANKED
    return (
        f'<svg xmlns="http://www.w3.org/2000/svg" width="{left + right}" height="{HEIGHT}" role="img" '
        f'aria-label="{title}"><title>{title}</title>'
        f'<clipPath id="r"><rect width="{left + right}" height="{HEIGHT}" rx="3"/></clipPath><g clip-path="url(#r)">'
        f'<rect width="{left}" height="{HEIGHT}" fill="{LABEL}"/>'
        f'<rect x="{left}" width="{right}" height="{HEIGHT}" fill="{colour}"/></g>'
        f'<g fill="#fff" font-family="{FONT}" font-size="{SIZE}">'
        f"{_text(badge.label, 0, left)}{_text(badge.value, left, right)}</g></svg>\n"
    )


def _text(text: str, start: int, width: int) -> str:
    return (
        f'<text x="{start + PADDING}" y="{BASELINE}" textLength="{width - 2 * PADDING}" '
        f'lengthAdjust="spacingAndGlyphs">{escape(_printable(text))}</text>'
    )


def _printable(text: str) -> str:
    """Without characters that XML cannot hold."""
    return "".join(letter if letter.isprintable() else " " for letter in text)
