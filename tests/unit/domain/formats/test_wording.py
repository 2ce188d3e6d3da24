"""Words in a text."""

import pytest

from backend.domain.formats.wording import says


@pytest.mark.parametrize(
    ("text", "wanted", "found"),
    [
        ("Save as...", "save", True),
        ("Saved", "Save", False),
        ("Paste\n  here", "paste here", True),
        ("C++ and C", "c++", True),
        ("anything", "", False),
        ("Größe", "GRÖSSE", True),
    ],
)
def test_says(text: str, wanted: str, found: bool) -> None:  # noqa: FBT001 - a table of cases
    assert says(text, wanted) is found
