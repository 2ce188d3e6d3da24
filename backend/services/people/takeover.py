"""State of an attempt for the takeover page."""

from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Attempt, Episode, Run
from backend.domain.errors import NotFound
from backend.domain.model.episode import AttemptState
from backend.domain.model.run import RunConfig, ScreenSize
from backend.services.accounts.projects import default_project


@dataclass(frozen=True)
class ControlledAttempt:
    """An attempt's current state.

    Attributes:
        human: a person is its agent; otherwise it can only be taken over.
        screen: of its desktop.
        step: number of steps so far.
    """

    attempt_id: UUID
    run_id: UUID
    live: bool
    state: AttemptState
    human: bool
    screen: ScreenSize
    step: int


def controlled_attempt(session: Session, attempt_id: UUID) -> ControlledAttempt:
    """The attempt. Raises NotFound, also for another project's."""
    attempt = session.get(Attempt, attempt_id)
    episode = None if attempt is None else session.get(Episode, attempt.episode_id)
    run = None if episode is None else session.get(Run, episode.run_id)
    agent = None if run is None else session.get(AgentConfiguration, run.agent_configuration_id)
    if attempt is None or run is None or agent is None or run.project_id != default_project(session).id:
        raise NotFound(f"there is no attempt {attempt_id}", code="attempt_not_found")
    return ControlledAttempt(
        attempt_id=attempt.id,
        run_id=run.id,
        live=attempt.live,
        state=AttemptState(attempt.state),
        human=agent.human,
        screen=RunConfig.model_validate(run.config).screen,
        step=attempt.current_step,
    )
