"""Reads the JSON dialect of VS Code: with comments and trailing commas."""

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
    """The value of a file, or the reason why there is none: (value, "") or (None, reason).

    Args:
        path: the file.
        plain: accept standard JSON only.
    """
    text, reason = read_text(path)
    if text is None:
        return None, reason
    return parse_jsonc(text, plain=plain)


def parse_jsonc(text: str, *, plain: bool = False) -> tuple[Any, str]:
    """Like `read_jsonc`, from text."""
    if not plain:
        text = _COMMENT.sub(lambda match: match.group(1) or " ", text)
        text = _COMMA.sub(lambda match: match.group(1) or "", text)
    try:
        return json.loads(text), ""
    except (ValueError, RecursionError) as error:
        return None, f"the file is not JSON: {str(error)[:200]}"
