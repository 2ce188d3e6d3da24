"""Why tasks cannot run here: used at submission, at retries, and by the form."""

from collections.abc import Collection, Hashable, Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.models.enums import Purpose
from backend.db.repositories.benchmarks import quarantine
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig
from backend.services.capacity.worker_capabilities import Capabilities, has_judge, needs_of


def reasons(  # noqa: PLR0913 - what a task may lack
    session: Session,
    can: Capabilities | None,
    config: RunConfig,
    chosen: Sequence[Task],
    *,
    purpose: str,
    lacking: Collection[UUID] = (),
) -> dict[UUID, Reason | None]:
    """Why each task cannot run, None if it can. Validation runs include quarantined tasks.

    Args:
        session: the transaction.
        can: workers' capabilities; None = unknown, which is not a reason.
        config: of the run.
        chosen: its tasks.
        purpose: of the run.
        lacking: tasks without the run's variant.
    """
    aside = {} if purpose == Purpose.VALIDATE else quarantine.in_force(session, [task.id for task in chosen])
    judge = has_judge(config)
    lacks: dict[Hashable, Reason | None] = {}

    def reason(task: Task) -> Reason | None:
        if task.id in lacking:
            return Reason(ReasonCode.VARIANT_NOT_IN_TASK, f"has no variant {config.variant}")
        if task.id in aside:
            return Reason(ReasonCode.QUARANTINED, f"quarantined: {aside[task.id].reason}")
        if can is None:
            return None
        needs = needs_of(task)
        if needs not in lacks:
            image, screen = config.desktop_image, config.screen
            lacks[needs] = can.why_not(config.provider, task, judge=judge, image=image, screen=screen)
        return lacks[needs]

    return {task.id: reason(task) for task in chosen}
