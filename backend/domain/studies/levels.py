"""Levels of a factor as people type them: on the command line and in forms."""

import json

from backend.domain.model.task import JSON
from backend.domain.studies.study import NOTHING


def levels_of(text: str) -> list[JSON]:
    """Levels from `A,B` or a JSON list; `none` leaves the field out, other words are JSON where possible, else text.

    Raises:
        ValueError: it begins like a JSON list, and is none.
    """
    if text.startswith("["):
        return list(json.loads(text))
    return [_level(part.strip()) for part in text.split(",")]


def _level(word: str) -> JSON:
    if word == NOTHING:
        return None
    try:
        level: JSON = json.loads(word)
    except ValueError:
        return word
    return level
