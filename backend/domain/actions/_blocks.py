"""Finds the fenced code blocks of a model's reply in one linear pass."""

import re
from abc import abstractmethod
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from backend.domain.actions._checked import check_actions
from backend.domain.errors import InvalidAction
from backend.domain.model.reasoning import split_reasoning
from backend.domain.model.trajectory import Action, ActionType
from backend.domain.ports.agent import CoordinateFrame
from backend.domain.ports.model import ModelReply, Tool

TOKENS = frozenset({"WAIT", "DONE", "FAIL"})
LONGEST_REPLY = 2 * 2**20
_FENCE = "```"
_MOST_BLOCKS = 200
_LABEL = re.compile(r"[A-Za-z0-9_+.#-]{1,20}")
_LABEL_BELOW = re.compile(r"\s*\n[ \t]*(python3?|py|json|decision|memory)[ \t]*\n", re.IGNORECASE)
_INLINE_LABEL = re.compile(r"(python3?|py|json|decision|memory)\s")


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


def token(text: str) -> tuple[Action, ...] | None:
    """The action of a reply that consists of WAIT, DONE or FAIL alone; None for any other reply."""
    word = text.strip().rstrip(";").rstrip() if len(text) < 100 else ""  # noqa: PLR2004 - longer ones are no token.
    return (Action(type=ActionType(word)),) if word in TOKENS else None


def fenced_blocks(text: str) -> tuple[Block, ...]:
    """Every fenced block in order; a fence closes at the next fence.

    Raises:
        InvalidAction: there are too many blocks.
    """
    parts = text.split(_FENCE)
    if len(parts) > 2 * _MOST_BLOCKS + 1:
        raise InvalidAction(f"the reply has more than {_MOST_BLOCKS} code blocks", code="input_too_long")
    last_open = len(parts) - 1 if len(parts) % 2 == 0 else None
    return tuple(_block(parts[index], closed=index != last_open) for index in range(1, len(parts), 2))


def _block(text: str, *, closed: bool) -> Block:
    first, line_end, rest = text.partition("\n")
    if not first.strip() and (below := _LABEL_BELOW.match(text)):
        return Block(below[1].lower(), text[below.end() :], closed)
    word = first.strip() if len(first) < 100 else ""  # noqa: PLR2004 - a label is short.
    if line_end and word not in TOKENS and _LABEL.fullmatch(word):
        return Block(word.lower(), rest, closed)
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
