"""Finds the JSON values of a model's reply."""

import json
from collections.abc import Iterator
from typing import Any

from backend.domain.actions._blocks import fenced_blocks, whole
from backend.domain.errors import InvalidAction


def json_blocks(reply: str, example: str) -> Iterator[Any]:
    """Every JSON value of a reply: the whole text, else each ```json block, else each other block.

    Args:
        reply: the model's reply.
        example: a correct answer, shown in the hint.

    Raises:
        InvalidAction: there is no JSON, or a block is malformed; the message names the position.
    """
    text = reply.strip()
    blocks = [] if text[:1] in {"{", "["} and text[-1:] in {"}", "]"} else whole(fenced_blocks(reply))
    named = [block.body for block in blocks if block.label == "json"] or [block.body for block in blocks] or [text]
    for body in named:
        try:
            yield json.loads(body)
        except ValueError as error:
            raise InvalidAction(
                f"expected JSON, {error}", code="invalid_json", hint=f"For example {example}."
            ) from error
        except RecursionError as error:
            raise InvalidAction("the JSON is nested too deeply", code="invalid_json") from error
