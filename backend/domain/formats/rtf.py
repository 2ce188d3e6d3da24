"""Reads rich text (RTF) of WordPad and others: paragraphs and bold characters.

Supports groups, inherited formatting and the three spellings of characters. Skips everything but the document's text
(fonts, colours, pictures, headers). Source: Microsoft's "Rich Text Format (RTF) Specification", version 1.9.1.
"""

import re
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
        "colortbl", "fldinst", "fonttbl", "footer", "footerf", "footerl", "footerr", "generator", "header", "headerf",
        "headerl", "headerr", "info", "listoverridetable", "listtable", "object", "pict", "rsidtbl", "stylesheet",
        "themedata", "xmlnstbl",
    }
)  # fmt: skip
"""Words that begin a group without document text."""
_SPECIAL = {"tab": "\t", "emdash": "\u2014", "endash": "\u2013", "lquote": "\u2018", "rquote": "\u2019",
            "ldblquote": "\u201c", "rdblquote": "\u201d", "bullet": "\u2022", "line": "\n"}  # fmt: skip
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
        skip: characters after a Unicode escape that repeat it for older readers.
    """

    bold: bool = False
    aside: bool = False
    skip: int = 1


@dataclass
class RtfParagraph:
    """A paragraph's text, and for each of its characters whether it is bold."""

    text: str = ""
    bold: tuple[bool, ...] = ()

    def add(self, text: str, *, bold: bool) -> None:
        self.text += text
        self.bold += (bold,) * len(text)


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
        self._paragraphs = [RtfParagraph()]
        self._states = [_State()]
        self._left_out = 0
        self._encoding = "cp1252"

    def read(self, data: bytes) -> list[RtfParagraph]:
        for token in _TOKEN.finditer(data):
            if token["open"]:
                self._open()
            elif token["close"]:
                self._close()
            elif token["word"]:
                self._control(token["word"].decode(), None if token["number"] is None else int(token["number"]))
            elif token["code"]:
                self._say(bytes.fromhex(token["code"].decode()).decode(self._encoding, "replace"))
            elif token["sign"]:
                self._sign(token["sign"].decode("latin-1"))
            elif token["text"]:
                self._say(token["text"].decode(self._encoding, "replace"))
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
        if word == "b":
            self._states[-1] = replace(state, bold=number != 0)
        elif word == "plain":
            self._states[-1] = replace(state, bold=False)
        elif word in _ASIDE:
            self._states[-1] = replace(state, aside=True)
        elif word == "uc":
            self._states[-1] = replace(state, skip=max(0, number or 0))
        elif word == "u" and number is not None:
            self._say(chr(number % 0x10000))
            self._left_out = state.skip
        elif word == "ansicpg" and number:
            self._encoding = f"cp{number}" if number in {437, 850, 1250, 1251, 1252, 1253, 1254, 1257} else "cp1252"
        elif word == "par" and not state.aside:
            self._paragraphs.append(RtfParagraph())
        elif word in _SPECIAL:
            self._say(_SPECIAL[word])

    def _sign(self, sign: str) -> None:
        """A backslash before a non-letter."""
        if sign == "*":
            self._states[-1] = replace(self._states[-1], aside=True)
        elif sign in "\\{}":
            self._say(sign)
        elif sign == "~":
            self._say("\u00a0")

    def _say(self, text: str) -> None:
        repeated = min(self._left_out, len(text))
        self._left_out -= repeated
        if not self._states[-1].aside:
            self._paragraphs[-1].add(text[repeated:], bold=self._states[-1].bold)
