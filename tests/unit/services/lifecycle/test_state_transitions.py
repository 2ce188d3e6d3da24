"""A move may write columns of the row that moves only; mypy checks who calls."""

import pytest
from sqlalchemy import inspect

from backend.db.models import Attempt, Episode, Run
from backend.services.lifecycle.state_transitions import AttemptChange, EpisodeChange, RunChange


@pytest.mark.parametrize(
    ("row", "change"),
    [(Run, RunChange), (Episode, EpisodeChange), (Attempt, AttemptChange)],
    ids=lambda one: one.__name__,
)
def test_a_change_names_columns_and_never_the_state(row: type[object], change: type[object]) -> None:
    columns = set(inspect(row).columns.keys())
    assert set(change.__annotations__) <= columns - {"state", "id"}
