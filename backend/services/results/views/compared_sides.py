"""Sides of a comparison: runs, or configurations on a board, each with all its passes."""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.results import comparisons as repository
from backend.domain.errors import Conflict, NotFound
from backend.services.results.leaderboards import BoardOptions, leaderboard


@dataclass(frozen=True, kw_only=True)
class ComparedSides:
    """The sides of a comparison, the base first; `configurations` count only without `runs`.

    Attributes:
        configurations: ids, under the conditions of this key on the board of a benchmark's version. What is not named
            is what all of them have: the benchmark with the newest runs, its newest version, the first conditions.
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
        """The runs of each side, its representative first.

        Raises:
            NotFound: a configuration is not on the board.
            Conflict: no benchmark is named, and no board has all of the configurations.
        """
        if self.kind == "run":
            return [[run_id] for run_id in self.ids]
        benchmark, version = self.board(session)
        options = BoardOptions(self.conditions)
        board = leaderboard(session, benchmark, version=version, dimensions=(), options=options)
        runs: dict[str, dict[UUID, list[UUID]]] = defaultdict(dict)
        for row in board.rows:
            runs[row.conditions.key][row.agent.id] = row.runs
        keys = [board.conditions.key] if board.conditions else []
        if self.conditions is None:
            keys += [choice.conditions.key for choice in board.choices]
        of_all = next((runs[key] for key in keys if runs[key].keys() >= set(self.ids)), runs[keys[0]] if keys else {})
        for configuration_id in self.ids:
            if configuration_id not in of_all:
                raise NotFound(
                    f"No run of {benchmark} under these conditions is of the configuration {configuration_id}.",
                    code="configuration_not_on_board",
                )
        return [of_all[configuration_id] for configuration_id in self.ids]

    def boards(self, session: Session) -> list[str]:
        """Benchmarks on which these configurations can be compared; empty for runs."""
        if self.kind == "run":
            return []
        return list(dict.fromkeys(row.benchmark for row in repository.shared_boards(session, self.ids)))

    def board(self, session: Session) -> tuple[str, int | None]:
        """The benchmark and the version of its tasks; what is not named is one that all configurations have runs on.

        Raises Conflict: no benchmark is named, and none has runs of all of them.
        """
        if self.benchmark and self.version is not None:
            return self.benchmark, self.version
        for row in repository.shared_boards(session, self.ids):
            if self.benchmark in {"", row.benchmark}:
                return row.benchmark, row.version
        if self.benchmark:
            return self.benchmark, None
        raise Conflict(
            "No benchmark has runs of all these configurations.",
            code="no_common_benchmark",
            hint="Run them on the same version of a benchmark.",
        )
