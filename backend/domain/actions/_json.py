"""Finds the JSON values of a model's reply."""

import json
from collections.abc import Iterator
from typing import Any

from backend.domain.actions._blocks import TOKENS, fenced_blocks, whole
from backend.domain.errors import InvalidAction

_DECODER = json.JSONDecoder(strict=False)
"""Reads texts with line ends that the model did not escape."""


def json_values(text: str) -> Iterator[Any]:
    """The JSON values of a text, one or several behind each other. Raises ValueError."""
    plain, end = text.strip(), 0
    while True:
        value, end = _DECODER.raw_decode(plain, end)
        yield value
        if end == len(plain):
            return
        while plain[end].isspace():
            end += 1


def json_blocks(reply: str, example: str) -> Iterator[Any]:
    """Every JSON value of a reply: the whole text, else each ```json block, else each other block.

    WAIT, DONE or FAIL alone in a block counts as a JSON text.

    Args:
        reply: the model's reply.
        example: a correct answer, shown in the hint.

    Raises:
        InvalidAction: there is no JSON, or a block is malformed; the message names the position.
    """
    text = reply.strip()
    blocks = [] if text[:1] in {"{", "["} and text[-1:] in {"}", "]"} else whole(fenced_blocks(reply))
    named = [block for block in blocks if block.label == "json" or block.body.strip() in TOKENS]
    bodies = [block.body for block in named or blocks] or [text.strip("`")]
    for body in bodies:
        if body.strip() in TOKENS:
            yield body.strip()
            continue
        try:
            yield from json_values(body)
        except ValueError as error:
            raise InvalidAction(
                f"expected JSON, {error}", code="invalid_json", hint=f"For example {example}."
            ) from error
        except RecursionError as error:
            raise InvalidAction("the JSON is nested too deeply", code="invalid_json") from error
