"""Episodes of validation runs leave their result with the task."""

from sqlalchemy.dialects.postgresql import insert
from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Episode, Run, TaskValidation
from backend.db.models.words import VALIDATION_AGENTS, Purpose


def note(session: Session, run: Run, episode: Episode, evaluator_version: str | None) -> None:
    """Stores what a validation run's episode came to; of any other run, nothing. An episode leaves one result."""
    agent = run.config.get("agent")
    if run.purpose != Purpose.VALIDATE or agent not in VALIDATION_AGENTS or episode.outcome is None:
        return
    row = {
        "task_id": episode.task_id,
        "agent": agent,
        "score": episode.score,
        "outcome": str(episode.outcome),
        "evaluator_version": evaluator_version,
    }
    query = insert(TaskValidation).values({"id": uuid7(), "episode_id": episode.id, **row})
    session.execute(query.on_conflict_do_update(index_elements=["episode_id"], set_=row))
