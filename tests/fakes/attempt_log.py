"""An attempt's own log, kept in memory."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import AttemptFailure, FailureClass
from backend.domain.evaluators.evaluate import CallEvidence
from backend.domain.machines.desktop_end import DesktopEnd
from backend.domain.model.episode import EndedBy
from backend.domain.model.score import Evaluation
from backend.domain.model.task import Task
from tests.fakes.recorder import MemoryRecorder


class MemoryBook(MemoryRecorder):
    """Keeps the attempt's moves in `moves`, and what came with them in attributes of their own."""

    def __init__(self) -> None:
        super().__init__()
        self.moves: list[str] = []
        self.ended_by: EndedBy | None = None
        self.evaluation: Evaluation | None = None
        self.evidence: Sequence[CallEvidence] = ()
        self.seconds: Mapping[str, float] = {}
        self.failure: AttemptFailure | None = None
        self.after_action = False
        self.desktop_end: DesktopEnd | None = None
        self.desktop: Mapping[str, Any] = {}
        self.openings: list[Mapping[str, object]] = []

    @property
    def message(self) -> str:
        """Why the attempt was lost or has no verdict."""
        return self.failure.message if self.failure else ""

    @property
    def loss(self) -> tuple[FailureClass, str] | None:
        """Class and code of the failure."""
        return (self.failure.failure_class, self.failure.code) if self.failure else None

    def opening(self, facts: Mapping[str, object]) -> None:
        self._check()
        self.openings.append(facts)

    def note_desktop(self, desktop: Mapping[str, Any]) -> None:
        self._check()
        self.desktop = desktop

    def running(self, seconds: Mapping[str, float], seen_at: float | None) -> None:
        self._check()
        self.moves.append("running")

    def evaluating(self, ended_by: EndedBy, seconds: Mapping[str, float]) -> None:
        self._check()
        if self.moves[-1] != "evaluating":
            self.moves.append("evaluating")
        self.ended_by = ended_by

    def ended_from_inside(self, end: DesktopEnd) -> None:
        self._check()
        self.desktop_end = end

    def scored(
        self, task: Task, evaluation: Evaluation, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        self._check()
        self.moves.append("scored")
        self.evaluation, self.evidence, self.seconds = evaluation, evidence, seconds

    def unjudged(
        self, task: Task, failure: AttemptFailure, evidence: Sequence[CallEvidence], seconds: Mapping[str, float]
    ) -> None:
        self._check()
        self.moves.append("unjudged")
        self.failure, self.evidence, self.seconds = failure, evidence, seconds

    def lost(self, failure: AttemptFailure, seconds: Mapping[str, float], *, after_action: bool) -> None:
        self._check()
        self.moves.append("lost")
        self.failure, self.after_action, self.seconds = failure, after_action, seconds

    def was_cancelled(self, seconds: Mapping[str, float]) -> None:
        self._check()
        self.moves.append("cancelled")
