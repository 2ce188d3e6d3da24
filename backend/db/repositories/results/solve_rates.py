"""How often agents solve each task."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy import Double, Integer, cast, func, select
from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Run, Task
from backend.db.models.enums import FLOORS
from backend.db.repositories.common_queries import AnyRow, in_quarantine
from backend.db.repositories.results.pass_rollups import on_boards
from backend.domain.model.episode import EpisodeState


def solve_rates(session: Session, task_set_id: UUID) -> Sequence[AnyRow]:
    """(key, configuration, rate): share of a task's counted episodes on the board that a configuration solves.

    Without people, agents that see the task, and floors.
    """
    solved = func.avg(cast(Episode.solved, Integer))
    query = (
        select((Task.domain + "/" + Task.name).label("key"), AgentConfiguration.id, cast(solved, Double).label("rate"))
        .select_from(Episode)
        .join(Run, Run.id == Episode.run_id)
        .join(AgentConfiguration, AgentConfiguration.id == Run.agent_configuration_id)
        .join(Task, Task.id == Episode.task_id)
        .where(Run.task_set_id == task_set_id, on_boards(), Episode.state == EpisodeState.SCORED)
        .where(~Episode.human_assisted, ~in_quarantine(Task.id))
        .where(~AgentConfiguration.privileged, ~AgentConfiguration.human, AgentConfiguration.name.not_in(FLOORS))
    )
    return session.execute(query.group_by("key", AgentConfiguration.id)).all()
