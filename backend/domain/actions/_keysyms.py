"""Characters by X11's names of key symbols (keysymdef.h), as xdotool takes them: `eacute`, `EuroSign`, `U20AC`."""

import re
import unicodedata
from collections.abc import Mapping
from types import MappingProxyType

_ACCENTS = {
    "abovedot": "DOT ABOVE",
    "acute": "ACUTE",
    "breve": "BREVE",
    "caron": "CARON",
    "cedilla": "CEDILLA",
    "circumflex": "CIRCUMFLEX",
    "diaeresis": "DIAERESIS",
    "doubleacute": "DOUBLE ACUTE",
    "grave": "GRAVE",
    "macron": "MACRON",
    "ogonek": "OGONEK",
    "ring": "RING ABOVE",
    "slash": "STROKE",
    "stroke": "STROKE",
    "tilde": "TILDE",
}
_LETTER = re.compile(rf"([A-Za-z])({'|'.join(_ACCENTS)})")
_SCRIPT = re.compile(r"(Greek|Cyrillic)_([A-Za-z]{1,20})")
_CODE = re.compile(r"[Uu]\+?([0-9A-Fa-f]{4,6})")
_PAIRS = """
AE Æ ae æ OE Œ oe œ ETH Ð eth ð THORN Þ thorn þ ssharp ß Ooblique Ø ooblique ø EuroSign € euro € sterling £ cent ¢
currency ¤ degree ° section § paragraph ¶ copyright © registered ® trademark ™ plusminus ± division ÷ mu µ onehalf ½
onequarter ¼ threequarters ¾ onesuperior ¹ twosuperior ² threesuperior ³ exclamdown ¡ questiondown ¿ guillemotleft «
guillemotright » notsign ¬ macron ¯ diaeresis ¨ acute ´ cedilla ¸ periodcentered · brokenbar ¦ ordfeminine ª masculine º
endash – emdash — ellipsis … leftsinglequotemark ‘ rightsinglequotemark ’ leftdoublequotemark “ rightdoublequotemark ”
singlelowquotemark ‚ doublelowquotemark „ infinity ∞ notequal ≠ lessthanequal ≤ greaterthanequal ≥ radical √ idotless ı
"""  # noqa: RUF001 - these characters are meant.
_CHARACTERS: Mapping[str, str] = MappingProxyType(dict(zip(_PAIRS.split()[::2], _PAIRS.split()[1::2], strict=True)))


def character(name: str) -> str:
    """The printable character of a key symbol's name, in its case; empty for any other name."""
    if name in _CHARACTERS:
        return _CHARACTERS[name]
    if code := _CODE.fullmatch(name):
        number = int(code[1], 16)
        return chr(number) if number <= 0x10FFFF and chr(number).isprintable() else ""  # noqa: PLR2004 - Unicode's last.
    if letter := _LETTER.fullmatch(name):
        return _look_up("LATIN", letter[1], f" WITH {_ACCENTS[letter[2]]}")
    if letter := _SCRIPT.fullmatch(name):
        return _look_up(letter[1].upper(), letter[2])
    return ""


def _look_up(script: str, letter: str, addition: str = "") -> str:
    size = "CAPITAL" if letter.isupper() else "SMALL"
    try:
        return unicodedata.lookup(f"{script} {size} LETTER {letter.upper()}{addition}")
    except KeyError:
        return ""
