"""The order of a list."""

from dataclasses import dataclass


@dataclass(frozen=True)
class SortOrder:
    """The order of a list, and a page of it.

    Attributes:
        column: its name in the address.
        descending: from the highest value.
        page: from 1.
    """

    column: str
    descending: bool = False
    page: int = 1
