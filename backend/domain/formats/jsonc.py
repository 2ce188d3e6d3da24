"""Reads the JSON that VS Code writes and accepts: with comments, and with commas after the last entry."""

import json
import re
from typing import Any

from backend.domain.formats.text import read_text

# Strings and comments without an end reach to the end of the file, so that none is looked through twice. No possessive
# groups: Python before 3.11.5 matches those that hold a choice wrongly.
_STRING = r'"[^"\\]*(?:\\(?:.|\Z)[^"\\]*)*(?:"|\Z)'
_COMMENT = re.compile(rf"({_STRING})|//[^\n]*|/\*.*?(?:\*/|\Z)", re.DOTALL)
_COMMA = re.compile(rf"({_STRING})|,(?=\s*[}}\]])", re.DOTALL)


def read_jsonc(path: str | None, *, plain: bool = False) -> tuple[Any, str]:
    """The value of a file and why there is none: (value, "") or (None, reason).

    Args:
        path: the file.
        plain: only JSON proper is accepted.
    """
    text, reason = read_text(path)
    if text is None:
        return None, reason
    return parse_jsonc(text, plain=plain)


def parse_jsonc(text: str, *, plain: bool = False) -> tuple[Any, str]:
    """The same for text at hand."""
    if not plain:
        text = _COMMENT.sub(lambda match: match.group(1) or " ", text)
        text = _COMMA.sub(lambda match: match.group(1) or "", text)
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, f"the file is no JSON: {str(error)[:200]}"
