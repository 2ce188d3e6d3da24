"""Finds the JSON in what a model wrote."""

import json
import re
from collections.abc import Iterator
from typing import Any

from backend.domain.errors import Invalid

_FENCES = (re.compile(r"```json\s*\n?(.*?)```", re.DOTALL), re.compile(r"```\s*\n?(.*?)```", re.DOTALL))


def json_blocks(reply: str) -> Iterator[Any]:
    """Every JSON value of a reply: of each ```json block, else of each ``` block, else of the whole text.

    Raises:
        Invalid: a block is no JSON; says where it stops being one.
    """
    blocks = next((found for fence in _FENCES if (found := fence.findall(reply))), [reply])
    for block in blocks:
        try:
            yield json.loads(block)
        except ValueError as error:
            raise Invalid(
                f"expected JSON, {error}", hint='For example {"action_type": "CLICK", "x": 10, "y": 20}.'
            ) from error
        except RecursionError as error:
            raise Invalid("the JSON is nested too deeply") from error
