"""Printed values of settings."""

import pytest

from backend.domain.formats.setting_values import same


@pytest.mark.parametrize(
    ("one", "other", "found"),
    [
        ("uint32 4", "4", True),
        ("'dark'", "dark", True),
        ("true", "True", True),
        ("true", "false", False),
        ("1.50", "1.5", True),
        ("Dark", "dark", False),
        ("", "", True),
        ("nan", "nan", False),
    ],
)
def test_same(one: str, other: str, found: bool) -> None:  # noqa: FBT001 - a table of cases
    assert same(one, other) is found
