"""The port of training forms: how a recorded trajectory is written for those who train on it."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any, Protocol

from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef

Column = str | list["Column"] | dict[str, "Column"]
"""Type of a column: `text`, `integer`, `number`, `flag`, `json` (JSON as text in a table), `[type]`, `{name: type}`."""

WORDS = frozenset({"text", "integer", "number", "flag", "json"})


class TrainingForm(Protocol):
    """Writes trajectories as rows. Pure: the same trajectory gives the same rows in the same order.

    Attributes:
        about: one line for people.
        columns: every key of a row with its type, in the order of a table; None: the form has no table.
    """

    about: str
    columns: Mapping[str, Column] | None

    def refuses(self, recorded: ExportedAttempt) -> str:
        """Why this trajectory cannot be written in this form, in a few words; empty if it can."""
        ...

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        """Its rows: JSON values; pictures by their `path`. Only asked where nothing is refused."""
        ...

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        """Exactly those that the rows name, repeated or not. Only asked where nothing is refused."""
        ...
