"""Results of validation runs, stored with the task."""

from sqlalchemy.orm import Session

from backend.db.models import Episode, Run
from backend.db.models.enums import Purpose
from backend.db.repositories.runs import validations as repository
from backend.domain.model.run import VALIDATION_AGENTS


def note(session: Session, run: Run, episode: Episode, evaluator_version: str | None) -> None:
    """Stores the result of a validation run's episode; does nothing for other runs."""
    agent = str(run.config.get("agent"))
    if (
        run.purpose == Purpose.VALIDATE
        and agent in VALIDATION_AGENTS
        and episode.outcome
        and not episode.human_assisted
    ):
        repository.store(session, episode, agent, evaluator_version)
