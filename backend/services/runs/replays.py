"""Decisions for the `replay` agent, recorded by an earlier attempt."""

from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Step, Task
from backend.db.repositories.attempts import attempts as repository
from backend.db.repositories.runs import episodes
from backend.domain.model.run import RunConfig
from backend.domain.model.trajectory import Action, Decision, Usage

REPLAY = "replay"


def recorded_decisions(session: Session, config: RunConfig, task: Task, repeat: int) -> tuple[Decision, ...]:
    """Decisions for an episode of a `replay` run, by task and repeat; empty for other agents.

    The agent's parameter `episode` names a recorded episode; `run` a recorded run, of which the episode of the same
    task and repeat is used. Without either it is the newest scored episode of the task by another agent.
    """
    if config.agent != REPLAY:
        return ()
    source = _source(session, config, task, repeat)
    return () if source is None else decisions_of(session, source)


def decisions_of(session: Session, episode_id: UUID) -> tuple[Decision, ...]:
    """The agent's decisions in the episode's last attempt, in order."""
    attempts = repository.of_episode(session, episode_id)
    if not attempts:
        return ()
    rows = repository.steps(session, attempts[-1].id)
    return tuple(_decision(row) for row in rows if not any(result.get("final") for result in row.results))


def _source(session: Session, config: RunConfig, task: Task, repeat: int) -> UUID | None:
    if config.params.get("episode"):
        return UUID(str(config.params["episode"]))
    if config.params.get("run"):
        return episodes.same_task(session, UUID(str(config.params["run"])), task.domain, task.name, repeat)
    return episodes.newest_scored(session, task.id, REPLAY)


def _decision(row: Step) -> Decision:
    return Decision(
        actions=tuple(Action.model_validate(action) for action in row.actions),
        explanation=row.explanation,
        reply=row.reply,
        invalid=row.invalid,
        usage=Usage(),
    )
