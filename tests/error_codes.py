"""Tests assert on an error's code and fields, never on its sentence."""

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

import pytest

E = TypeVar("E", bound=Exception)


@contextmanager
def raises_code(
    error: type[E], code: str, *, mentions: str | Sequence[str] = (), **fields: Any
) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expects an error of a class with a code.

    Args:
        error: its class, or one above it.
        code: its code.
        mentions: names or numbers that its message must contain, not parts of the sentence.
        fields: other attributes such as `path` or `step`.
    """
    with raises_fields(error, mentions=mentions, code=code, **fields) as caught:
        yield caught


@contextmanager
def raises_fields(
    error: type[E], *, mentions: str | Sequence[str] = (), **fields: Any
) -> Iterator[pytest.ExceptionInfo[E]]:
    """Expects an error whose case other attributes tell: `kind`, `reason`, `errno`. Args: see `raises_code`."""
    with pytest.raises(error) as caught:
        yield caught
    assert {name: getattr(caught.value, name) for name in fields} == fields, caught.value
    words = [mentions] if isinstance(mentions, str) else mentions
    assert [word for word in words if word not in str(caught.value)] == []
