"""Why tasks cannot run here: used at submission, at retries, and by the form."""

from collections.abc import Collection, Hashable, Sequence
from dataclasses import dataclass, field
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Task
from backend.db.models.enums import Purpose
from backend.db.repositories.benchmarks import quarantine
from backend.db.repositories.benchmarks.task_groups import TaskNeeds
from backend.domain.model.reason import Reason, ReasonCode
from backend.domain.model.run import RunConfig
from backend.services.capacity.worker_capabilities import Capabilities, has_judge, needs_of


@dataclass(frozen=True)
class Runnability:
    """Facts that decide for one run whether a task can run.

    Attributes:
        can: workers' capabilities; None = unknown, which is not a reason.
        config: of the run.
        purpose: of the run; validation runs include quarantined tasks.
    """

    can: Capabilities | None
    config: RunConfig
    purpose: str
    _lacks: dict[Hashable, Reason | None] = field(default_factory=dict)

    def why_not(self, task: TaskNeeds, *, quarantined: str | None, has_variant: bool) -> Reason | None:
        """Why a task, or each of several equal tasks, cannot run; None if it can.

        Args:
            task: its needs.
            quarantined: why it is in quarantine; None = it is not.
            has_variant: it has the run's variant, if the run has one.
        """
        if not has_variant:
            return Reason(ReasonCode.VARIANT_NOT_IN_TASK, f"has no variant {self.config.variant}")
        if quarantined is not None and self.purpose != Purpose.VALIDATE:
            return Reason(ReasonCode.QUARANTINED, f"quarantined: {quarantined}")
        if self.can is None:
            return None
        needs = needs_of(task)
        if needs not in self._lacks:
            self._lacks[needs] = self.can.why_not(
                self.config.provider,
                task,
                judge=has_judge(self.config),
                image=self.config.desktop_image,
                screen=self.config.screen,
            )
        return self._lacks[needs]


def reasons(  # noqa: PLR0913 - what a task may lack
    session: Session,
    can: Capabilities | None,
    config: RunConfig,
    selected: Sequence[Task],
    *,
    purpose: str,
    lacking: Collection[UUID] = (),
) -> dict[UUID, Reason | None]:
    """Why each task cannot run, None if it can.

    Args:
        session: the transaction.
        can: workers' capabilities; None = unknown, which is not a reason.
        config: of the run.
        selected: its tasks.
        purpose: of the run.
        lacking: tasks without the run's variant.
    """
    aside = quarantine.in_force(session, [task.id for task in selected])
    quarantined = {task_id: entry.reason for task_id, entry in aside.items()}
    check = Runnability(can, config, purpose)
    return {
        task.id: check.why_not(task, quarantined=quarantined.get(task.id), has_variant=task.id not in lacking)
        for task in selected
    }
