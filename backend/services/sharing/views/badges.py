"""Badges: one row of a board as two short texts."""

from typing import Literal
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.domain.errors import NotFound
from backend.services.configurations.configuration_ref import ConfigurationRef
from backend.services.read_model import ReadModel, short
from backend.services.results.board_query import BoardQuery
from backend.services.results.views.leaderboard import board_of
from backend.services.results.views.leaderboard_models import Leaderboard, LeaderboardRow

Figures = Literal["all", "rank", "score"]
LONGEST_TEXT = 60


class BadgeText(ReadModel):
    """Text of a badge."""

    label: str = Field(description="The benchmark.", examples=["starter"])
    value: str = Field(examples=["#1 · 68.0 % (48.4\u201382.8)"])
    title: str = Field(description="The same in full, with the configuration's name.")
    ranked: bool


def badge_text(
    session: Session, benchmark: str, query: BoardQuery, configuration_id: UUID, figures: Figures = "all"
) -> BadgeText:
    """A configuration's row: rank and primary measure with interval, or why it is not ranked. Raises NotFound."""
    board = board_of(session, benchmark, query.version, query.options)
    row = _row(board, configuration_id)
    rank = _rank(row)
    value = {"rank": rank, "score": _score(row), "all": f"{rank} · {_score(row)}" if row.rank else rank}[figures]
    return BadgeText(
        label=short(board.benchmark, LONGEST_TEXT),
        value=short(value, LONGEST_TEXT),
        title=f"{board.benchmark}, {row.configuration.name}: {value}",
        ranked=row.rank is not None,
    )


def badge_rows(session: Session, benchmark: str, query: BoardQuery) -> list[ConfigurationRef]:
    """Configurations under the board's conditions, the best first. Raises NotFound."""
    board = board_of(session, benchmark, query.version, query.options)
    return [row.configuration for row in board.rows if board.conditions and row.conditions.key == board.conditions.key]


def _row(board: Leaderboard, configuration_id: UUID) -> LeaderboardRow:
    """The configuration's row under the board's conditions; another one if it has none."""
    rows = [row for row in board.rows if row.configuration.id == configuration_id]
    alike = [row for row in rows if board.conditions and row.conditions.key == board.conditions.key]
    for row in (*alike, *rows):
        return row
    raise NotFound("This configuration is not on the board.", code="configuration_not_on_board")


def _rank(row: LeaderboardRow) -> str:
    return f"#{row.rank}" if row.rank else f"not ranked: {row.reasons[0].text}"


def _score(row: LeaderboardRow) -> str:
    if row.primary is None:
        return "no score"
    low, high = row.primary.interval
    return f"{100 * row.primary.mean:.1f} % ({100 * low:.1f}\u2013{100 * high:.1f})"
