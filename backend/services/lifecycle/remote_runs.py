"""Runs of external programs: a lost episode waits until its program connects again."""

from backend.db.models import Episode, Run
from backend.domain.model.episode import EpisodeState
from backend.domain.model.reason import Reason, ReasonCode
from backend.services.lifecycle.human_runs import LATER
from backend.services.lifecycle.state_transitions import EpisodeChange, wait_columns

REMOTE = frozenset({"remote"})
"""Agents for whose episodes people may get a token. A `container`'s token goes to its worker."""
OUTSIDE = REMOTE | {"container"}
"""Agents that are external programs: like people they wait for their desktop."""
ASKS = "waits for its program to start another attempt"


def is_remote(run: Run) -> bool:
    """Whether an external program acts in it."""
    return run.config.get("agent") in REMOTE


def waiting_columns(lost: str = "") -> EpisodeChange:
    """Columns of an episode that starts when its program connects; `lost`: result of its last attempt."""
    reason = Reason(ReasonCode.PROGRAM, f"{lost}; it {ASKS}" if lost else ASKS)
    return wait_columns(LATER, reason)


def waits_for_program(run: Run, episode: Episode) -> bool:
    """Whether it waits for its program."""
    return is_remote(run) and episode.state == EpisodeState.WAITING and episode.available_at == LATER
