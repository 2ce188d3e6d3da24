"""Roll-ups of all passes of a configuration."""

from datetime import datetime
from uuid import UUID

from sqlalchemy import text
from sqlalchemy.orm import Mapped, mapped_column

from backend.db.models.base import Base, Json, JsonList, ref


class PassRollup(Base):
    """Scores of a configuration under equal conditions, over all its runs; recomputed with each of their cubes.

    `conditions_key` is that of `backend.services.results.conditions`. `passes`: scored episodes of most tasks.
    `attempted_tasks` have a scored or a lost episode, `tasks_key` is the hash of their ids; `not_runnable_tasks` could
    run in no pass. `lost_share`: lost episodes that no other pass made up for, over those and the scored ones.
    `rates`: mean over tasks of the mean over passes. `summary` and `measures` are cells of all tasks; `cells` and
    `means` those of the other dimensions, where a task has more than one result: it counts once in each.
    `ended_desktops` and `flagged`: episodes whose desktop was ended from inside, or whose loss nothing explains.
    `agent_seconds`: mean over scored episodes. `costs` is a `PassCosts` of `backend.services.results.costs`.
    """

    __tablename__ = "pass_rollup"

    task_set_id: Mapped[UUID] = mapped_column(ref("task_set"), primary_key=True)
    agent_configuration_id: Mapped[UUID] = mapped_column(ref("agent_configuration"), primary_key=True)
    conditions_key: Mapped[str] = mapped_column(primary_key=True)
    as_of: Mapped[datetime]
    passes: Mapped[int]
    attempted_tasks: Mapped[int]
    not_runnable_tasks: Mapped[int] = mapped_column(default=0, server_default=text("0"))
    tasks_key: Mapped[str]
    lost_share: Mapped[float]
    rates: Mapped[Json]
    pass_rates: Mapped[JsonList]
    runs: Mapped[JsonList]
    summary: Mapped[Json]
    measures: Mapped[JsonList]
    cells: Mapped[JsonList]
    means: Mapped[JsonList]
    ended_desktops: Mapped[int]
    flagged: Mapped[int]
    agent_seconds: Mapped[float | None]
    costs: Mapped[Json] = mapped_column(default=dict, server_default=text("'{}'"))
