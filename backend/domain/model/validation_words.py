"""Phrases for errors of pydantic, which follow a field: `budget.max_steps: must be at least 1`."""

from collections.abc import Mapping
from typing import Any

_OWN, _OWN_LEAD = "value_error", "Value error, "
_LEAD = "Input should be "
_WORDS = {
    "missing": "is missing",
    "extra_forbidden": "is not a known field",
    "greater_than_equal": "must be at least {ge}",
    "greater_than": "must be more than {gt}",
    "less_than_equal": "must be at most {le}",
    "less_than": "must be less than {lt}",
    "multiple_of": "must be a multiple of {multiple_of}",
    "finite_number": "must be a finite number",
    "string_too_long": "must have at most {max_length} characters",
    "string_too_short": "must have at least {min_length} characters",
    "string_pattern_mismatch": "must match the pattern {pattern}",
    "too_long": "must have at most {max_length} entries",
    "too_short": "must have at least {min_length} entries",
    "int_type": "must be a whole number",
    "int_parsing": "must be a whole number",
    "int_parsing_size": "is too large a number",
    "int_from_float": "must be a whole number",
    "float_type": "must be a number",
    "float_parsing": "must be a number",
    "bool_type": "must be true or false",
    "bool_parsing": "must be true or false",
    "string_type": "must be a text",
    "list_type": "must be a list",
    "tuple_type": "must be a list",
    "set_type": "must be a list",
    "frozen_set_type": "must be a list",
    "dict_type": "must be an object",
    "mapping_type": "must be an object",
    "model_type": "must be an object",
    "model_attributes_type": "must be an object",
    "dataclass_type": "must be an object",
    "none_required": "must be null",
    "enum": "must be {expected}",
    "literal_error": "must be {expected}",
    "uuid_type": "must be an id",
    "uuid_parsing": "is not an id",
    "datetime_type": "must be a date and time, such as 2026-11-27T10:00:00Z",
    "datetime_parsing": "must be a date and time, such as 2026-11-27T10:00:00Z",
    "datetime_from_date_parsing": "must be a date and time, such as 2026-11-27T10:00:00Z",
    "timezone_aware": "must have a time zone, such as 2026-11-27T10:00:00Z",
    "date_parsing": "must be a date, such as 2026-11-27",
    "date_from_datetime_parsing": "must be a date, such as 2026-11-27",
    "url_parsing": "must be an address, such as https://example.org/path",
    "json_invalid": "is not JSON: {error}",
}
"""By pydantic's type of error, whose own words are for programmers; `{...}` are its limits."""


def problem_words(error: Mapping[str, Any]) -> str:
    """Description of an invalid value, without the name of its field.

    Args:
        error: one of pydantic's `ValidationError.errors()`.
    """
    limits, message = error.get("ctx") or {}, str(error["msg"])
    if error["type"] == _OWN:
        return plain_message(message)
    if limits.get("min_length") == 1:
        return "must not be empty"
    try:
        return _WORDS[error["type"]].format_map(limits)
    except KeyError:  # A rare kind, or one whose limits were left out.
        return plain_message(message)


def plain_message(message: str) -> str:
    """A message of pydantic, where there is nothing else to go by, as in those of the command line's parser."""
    message = message.removeprefix(_OWN_LEAD)
    if not message.startswith(_LEAD):
        return message
    words = message.removeprefix(_LEAD).replace("greater than or equal to", "at least")
    return f"must be {words.replace('less than or equal to', 'at most')}"


def sentence_of(error: Mapping[str, Any]) -> str:
    """The message as a sentence, to stand at its field."""
    words = problem_words(error).rstrip(".")
    return f"{words[:1].upper()}{words[1:]}."
