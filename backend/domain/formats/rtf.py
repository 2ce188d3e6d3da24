"""Reads rich text (RTF) of WordPad and others: paragraphs and bold characters.

Supports groups, inherited formatting and the three spellings of characters. Skips everything but the document's text
(fonts, colours, pictures, headers). Source: Microsoft's "Rich Text Format (RTF) Specification", version 1.9.1.
"""

import re
from collections.abc import Callable
from dataclasses import dataclass, replace

_TOKEN = re.compile(
    rb"\\(?P<word>[a-z]{1,32})(?P<number>-?\d{1,10})?\x20?"
    rb"|\\'(?P<code>[0-9a-fA-F]{2})"
    rb"|\\(?P<sign>[^a-z'])"
    rb"|(?P<open>\{)|(?P<close>\})"
    rb"|[\r\n\0]+"
    rb"|(?P<text>[^\\{}\r\n\0]+)",
    re.DOTALL,
)
_ASIDE = frozenset(
    {
        "aftncn", "aftnsep", "aftnsepc", "annotation", "atnauthor", "atnid", "colortbl", "fldinst", "fonttbl", "footer",
        "footerf", "footerl", "footerr", "footnote", "ftncn", "ftnsep", "ftnsepc", "generator", "header", "headerf",
        "headerl", "headerr", "info", "listoverridetable", "listtable", "listtext", "nonesttables", "object", "pict",
        "pntext", "rsidtbl", "shprslt", "stylesheet", "tc", "themedata", "upr", "xe", "xmlnstbl",
    }
)  # fmt: skip
"""Words that begin a group without document text."""
_SPECIAL = {"tab": "\t", "emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018", "rquote": "\u2019",
            "ldblquote": "\u201c", "rdblquote": "\u201d", "bullet": "\u2022", "line": "\n", "emspace": "\u2003",
            "enspace": "\u2002", "qmspace": "\u2005", "zwj": "\u200d", "zwnj": "\u200c", "ltrmark": "\u200e",
            "rtlmark": "\u200f"}  # fmt: skip
_SIGNS = {"~": "\u00a0", "_": "-"}
_ENDS = {"par", "page", "sect", "cell", "nestcell"}
"""Words behind which another paragraph, page or cell begins."""
_CODE_PAGES = {437, 850, 852, 866, 874, 932, 936, 949, 950, *range(1250, 1259)}
_CHARSETS = {128: 932, 129: 949, 134: 936, 136: 950, 161: 1253, 162: 1254, 163: 1258, 177: 1255, 178: 1256, 186: 1257,
             204: 1251, 222: 874, 238: 1250}  # fmt: skip
"""Code pages of fonts, whose bytes are in these whatever the document's code page is."""
_DEEPEST = 200


class BrokenRtf(ValueError):
    """The file is not RTF, or is damaged; the message says what is wrong.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


@dataclass(frozen=True)
class _State:
    """State inside a group.

    Attributes:
        aside: the group has no document text.
        deleted: a tracked deletion.
        twice: the group has its text in two forms, of which the second one counts.
        font: number of the font; None for the document's own.
        is_table: the group lists fonts.
        skip: characters after a Unicode escape that repeat it for older readers.
    """

    bold: bool = False
    aside: bool = False
    deleted: bool = False
    twice: bool = False
    font: int | None = None
    is_table: bool = False
    skip: int = 1

    @property
    def hidden(self) -> bool:
        """Whether text does not count."""
        return self.aside or self.deleted


_STATES: dict[str, Callable[[_State, int | None], _State]] = {
    "b": lambda state, number: replace(state, bold=number != 0),
    "deleted": lambda state, number: replace(state, deleted=number != 0),
    "f": lambda state, number: replace(state, font=number),
    "plain": lambda state, _: replace(state, bold=False, font=None),
    "uc": lambda state, number: replace(state, skip=max(0, number or 0)),
    "ud": lambda state, _: replace(state, aside=state.aside and not state.twice),
}
"""Words that change the state of their group."""


@dataclass(frozen=True)
class RtfParagraph:
    """A paragraph's text, and for each of its characters whether it is bold."""

    text: str = ""
    bold: tuple[bool, ...] = ()


def read_rtf(data: bytes) -> list[RtfParagraph]:
    """The paragraphs of a document, in order.

    Raises:
        BrokenRtf: it is malformed.
    """
    if not data.lstrip().startswith(b"{\\rtf"):
        raise BrokenRtf("it does not begin as rich text does", code="not_rtf")
    return _Reader().read(data)


class _Reader:
    def __init__(self) -> None:
        self._paragraphs: list[RtfParagraph] = []
        self._letters: list[str] = []
        self._bold: list[bool] = []
        self._states = [_State()]
        self._left_out = 0
        self._code_page = 1252
        self._charsets: dict[int, int] = {}
        self._bytes = bytearray()

    def read(self, data: bytes) -> list[RtfParagraph]:
        for token in _TOKEN.finditer(data):
            if token["code"]:
                self._take(bytes.fromhex(token["code"].decode()))
                continue
            if token["text"] or token["sign"] in {b"\\", b"{", b"}"}:
                self._take(token["text"] or token["sign"])
                continue
            if not token["word"] and not token["sign"] and not token["open"] and not token["close"]:
                continue  # Line ends of the file.
            self._decode()
            if token["open"]:
                self._open()
            elif token["close"]:
                self._close()
            elif token["word"]:
                self._control(token["word"].decode(), None if token["number"] is None else int(token["number"]))
            else:
                self._sign(token["sign"].decode("latin-1"))
        self._decode()
        self._end_paragraph()
        if len(self._states) > 1:
            raise BrokenRtf("it breaks off: a group has no end", code="group_open")
        return self._paragraphs

    def _open(self) -> None:
        if len(self._states) > _DEEPEST:
            raise BrokenRtf("its groups are nested too deep", code="too_deep")
        self._states.append(self._states[-1])

    def _close(self) -> None:
        if len(self._states) == 1:
            raise BrokenRtf("a group ends that has not begun", code="group_not_begun")
        self._states.pop()

    def _control(self, word: str, number: int | None) -> None:
        state = self._states[-1]
        if word in _STATES:
            self._states[-1] = _STATES[word](state, number)
        elif word in _ASIDE:
            twice = word == "upr" and not state.aside
            self._states[-1] = replace(state, aside=True, is_table=word == "fonttbl", twice=twice)
        elif word == "fcharset" and state.is_table and state.font is not None:
            self._charsets[state.font] = number or 0
        elif word == "u" and number is not None:
            self._say(chr(number % 0x10000))
            self._left_out = state.skip
        elif word == "ansicpg" and number:
            self._code_page = number if number in _CODE_PAGES else 1252
        elif word in _ENDS and not state.hidden:
            self._end_paragraph()
        elif word in _SPECIAL:
            self._say(_SPECIAL[word])

    def _take(self, data: bytes) -> None:
        """Bytes of text, without those that repeat a Unicode escape; several may be one character."""
        repeated = min(self._left_out, len(data))
        self._left_out -= repeated
        self._bytes += data[repeated:]

    def _decode(self) -> None:
        """Ends a sequence of bytes."""
        if self._bytes:
            font = self._states[-1].font
            charset = 0 if font is None else self._charsets.get(font, 0)
            self._say(self._bytes.decode(f"cp{_CHARSETS.get(charset, self._code_page)}", "replace"))
            self._bytes.clear()

    def _sign(self, sign: str) -> None:
        """A backslash before a non-letter."""
        if sign == "*":
            self._states[-1] = replace(self._states[-1], aside=True)
        elif sign in _SIGNS:
            self._say(_SIGNS[sign])

    def _say(self, text: str) -> None:
        repeated = min(self._left_out, len(text))
        self._left_out -= repeated
        for letter in () if self._states[-1].hidden else text[repeated:]:
            if "\udc00" <= letter <= "\udfff" and self._letters and "\ud800" <= self._letters[-1] <= "\udbff":
                halves = self._letters[-1] + letter
                self._letters[-1] = halves.encode("utf-16", "surrogatepass").decode("utf-16")
            else:
                self._letters.append(letter)
                self._bold.append(self._states[-1].bold)

    def _end_paragraph(self) -> None:
        self._paragraphs.append(RtfParagraph("".join(self._letters), tuple(self._bold)))
        self._letters, self._bold = [], []
