"""Types of spans' attributes."""

from collections.abc import Mapping, Sequence
from typing import Literal

Kind = Literal["internal", "server", "client", "producer", "consumer"]
Value = str | int | float | bool | Sequence[str]
Attributes = Mapping[str, Value | None]
"""By name; None is left out."""
