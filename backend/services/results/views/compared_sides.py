"""What a comparison compares: runs, or configurations on a board, each with all its passes."""

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.errors import NotFound
from backend.services.results.leaderboards import BoardOptions, leaderboard


@dataclass(frozen=True, kw_only=True)
class ComparedSides:
    """The sides of a comparison, the base first; `configurations` count only without `runs`.

    Attributes:
        configurations: ids, under the conditions of this key on the board of a benchmark's version; defaults as on the
            board.
    """

    runs: Sequence[UUID] = ()
    configurations: Sequence[UUID] = ()
    benchmark: str = ""
    version: int | None = None
    conditions: str | None = None

    @property
    def kind(self) -> str:
        """`run` or `configuration`: how an address names a side."""
        return "run" if self.runs or not self.configurations else "configuration"

    @property
    def ids(self) -> list[UUID]:
        """Of the sides, each once."""
        return list(dict.fromkeys(self.runs if self.kind == "run" else self.configurations))

    def query(self, ids: Sequence[UUID] | None = None) -> dict[str, Any]:
        """The query by which an address names these sides, or others of the same kind."""
        own: dict[str, Any] = {self.kind: list(self.ids if ids is None else ids)}
        if self.kind == "configuration":
            own |= {"benchmark": self.benchmark, "version": self.version, "conditions": self.conditions}
        return own

    def run_ids(self, session: Session) -> list[list[UUID]]:
        """The runs of each side, the one that stands for it first. Raises NotFound."""
        if self.kind == "run":
            return [[run_id] for run_id in self.ids]
        options = BoardOptions(self.conditions)
        board = leaderboard(session, self.benchmark, version=self.version, dimensions=(), options=options)
        alike = [row for row in board.rows if board.conditions and row.conditions.key == board.conditions.key]
        runs = {row.agent.id: row.runs for row in alike}
        for configuration_id in self.ids:
            if configuration_id not in runs:
                raise NotFound(
                    f"No run of {self.benchmark} under these conditions is of the configuration {configuration_id}.",
                    code="configuration_not_on_board",
                )
        return [runs[configuration_id] for configuration_id in self.ids]
