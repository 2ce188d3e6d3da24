"""Finds the fenced code blocks of a model's reply in one linear pass."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.actions._checked import check_actions
from backend.domain.errors import InvalidAction
from backend.domain.model.quotes import is_quoted
from backend.domain.model.reasoning import split_reasoning
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool

TOKENS = frozenset({"WAIT", "DONE", "FAIL"})
LONGEST_REPLY = 2 * 2**20
_FENCE = "```"
_LONG_FENCE = re.compile(r"`{4,5}(?!`)")
"""Around code with shorter fences in it; six are the end of one block and the beginning of the next."""
_MOST_BLOCKS = 200
_LABEL = re.compile(r"[A-Za-z0-9_+.#-]{1,20}")
_LABEL_BELOW = re.compile(r"\s*\n[ \t]*(python3?|py|json|decision|memory)[ \t]*\n", re.IGNORECASE)
_INLINE_LABEL = re.compile(r"(python3?|py|json|decision|memory)\s")
_OPTIONS = r"""\s(?:\s{0,9}(?:\{[^}]{1,80}\}|[\w-]{1,30}=(?:"[^"]{0,80}"|'[^']{0,80}')))+"""
_LABEL_WITH_MORE = re.compile(
    rf"\{{\.?(python3?|py|json)\b[^}}\n]{{0,80}}\}}|(python3?|py|json)(?:[:,{{]\S.{{0,200}}|\s?[\d.]{{1,6}}|{_OPTIONS})",
    re.IGNORECASE,
)
"""A label with a file's name, a version or options: `python:main.py`, `Python 3.11`, `{python}`, `python title="a"`."""
_LONG_QUOTE = re.compile("\"\"\"|'''")
MARKDOWN = "`*_"
"""Around a word that is written in bold or as code."""


@dataclass(frozen=True)
class Block:
    """A fenced block.

    Attributes:
        label: the word after the opening fence in lower case; empty without one.
        body: the text between the fences, unchanged.
        closed: False if the reply ends before the closing fence.
    """

    label: str
    body: str
    closed: bool = True


def text_of(reply: ModelReply | str) -> str:
    """The text of a reply, without reasoning that the model marked in it.

    Raises:
        InvalidAction: the reply is longer than any model client returns.
    """
    text = reply if isinstance(reply, str) else reply.text
    if len(text) > LONGEST_REPLY:
        raise InvalidAction(
            f"the reply has {len(text)} characters, at most {LONGEST_REPLY} are read", code="input_too_long"
        )
    return split_reasoning(text).answer


def bare_word(text: str) -> str:
    """A text without blanks and signs of Markdown around it."""
    return text.strip().strip(MARKDOWN).strip()


def token(text: str) -> tuple[Action, ...] | None:
    """The action of a reply that consists of WAIT, DONE or FAIL alone, also in bold or as code; None for any other."""
    word = bare_word(text).rstrip(";").rstrip() if len(text) < 100 else ""  # noqa: PLR2004 - longer ones are no token.
    return (Action(type=ActionType(word)),) if word in TOKENS else None


def fenced_blocks(text: str) -> tuple[Block, ...]:
    """Every fenced block in order; a fence closes at the next fence, one of four or five backticks at the next such.

    Raises:
        InvalidAction: there are too many blocks.
    """
    return _split(text)[0]


def _split(text: str) -> tuple[tuple[Block, ...], list[str]]:
    """The blocks, and the text before each and behind the last."""
    blocks: list[Block] = []
    around: list[str] = []
    position = 0
    while (start := text.find(_FENCE, position)) >= 0:
        if len(blocks) == _MOST_BLOCKS:
            raise InvalidAction(f"the reply has more than {_MOST_BLOCKS} code blocks", code="input_too_long")
        long = _LONG_FENCE.match(text, start)
        fence = long[0] if long else _FENCE
        body = start + len(fence)
        end = _fence_end(text, fence, body)
        blocks.append(_block(text[body : end if end >= 0 else None], closed=end >= 0))
        around.append(text[position:start])
        position = end + len(fence) if end >= 0 else len(text)
    return tuple(blocks), [*around, text[position:]]


def _fence_end(text: str, fence: str, start: int) -> int:
    """Where a block ends; negative if it does not. A fence within quotes is text that the model types."""
    end, position, long_quote = text.find(fence, start), start, ""
    for _ in range(_MOST_BLOCKS):
        if end < 0 or text.find("\n", start, end) < 0:
            return end
        for quote in _LONG_QUOTE.findall(text, position, end):
            long_quote = "" if quote == long_quote else long_quote or quote
        position = end + len(fence)
        if not (text.find(long_quote, position) >= 0 if long_quote else is_quoted(text, end, position)):
            return end
        end = text.find(fence, position)
    return -1


def token_after_blocks(text: str) -> tuple[Action, ...]:
    """The action of WAIT, DONE or FAIL alone on the last line of a reply, behind its blocks; empty without one.

    Raises:
        InvalidAction: DONE or FAIL stands alone on a line before, so that it is unclear whether to act.
    """
    *before, after = _split(text)[1]
    lines = [bare_word(line) for line in after.split("\n") if line.strip()]
    if {"DONE", "FAIL"} & {*lines[:-1], *(bare_word(line) for part in before for line in part.split("\n"))}:
        raise InvalidAction("DONE and FAIL come last", code="invalid_code", hint="Write nothing behind them.")
    return token(lines[-1]) or () if before and lines else ()


def _block(text: str, *, closed: bool) -> Block:
    first, line_end, remainder = text.partition("\n")
    if not first.strip() and (below := _LABEL_BELOW.match(text)):
        return Block(below[1].lower(), text[below.end() :], closed)
    word = first.strip() if len(first) < 100 else ""  # noqa: PLR2004 - a label is short.
    if line_end and (more := _LABEL_WITH_MORE.fullmatch(word)):
        return Block((more[1] or more[2]).lower(), remainder, closed)
    if line_end and word not in TOKENS and _LABEL.fullmatch(word):
        return Block(word.lower(), remainder, closed)
    if inline := _INLINE_LABEL.match(text):
        return Block(inline[1], text[inline.end() :], closed)
    return Block("", text, closed)


def whole(source: Iterable[Block]) -> tuple[Block, ...]:
    """The same blocks, all closed: a truncated block is never executed in part.

    Raises:
        InvalidAction: a block is not closed.
    """
    blocks = tuple(source)
    if not all(block.closed for block in blocks):
        raise InvalidAction(
            "the last code block is not closed",
            code="code_block_not_closed",
            hint="End it with ``` on a line of its own.",
        )
    return blocks


class TextActionSpace:
    """Action space that is written as text, without tools."""

    def tools(self, sight: CoordinateFrame) -> tuple[Tool, ...]:  # noqa: ARG002
        """None: actions are written as text."""
        return ()

    def parse(self, reply: ModelReply | str, sight: CoordinateFrame = CoordinateFrame()) -> tuple[Action, ...]:  # noqa: B008
        """See the port; docs/internals/actions.md lists the result of each malformed reply."""
        text = text_of(reply)
        return token(text) or check_actions(self.read(text, sight))

    @abstractmethod
    def read(self, text: str, sight: CoordinateFrame) -> Sequence[Action]:
        """Actions of a text that is more than DONE, FAIL or WAIT. Raises InvalidAction."""
