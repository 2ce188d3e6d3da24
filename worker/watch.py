"""Looks, after each of the agent's steps, at the parts of the task whose turn it is."""

from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress

from backend.domain.errors import DeskarenaError, EvaluatorFailed, GuestRefused, Lost
from backend.domain.evaluators.evaluate import CallEvidence, gather
from backend.domain.parts import Turns
from backend.domain.score import MetricValue, is_solved
from backend.domain.task import Part, Task
from worker.reach import TaskContext

Look = Callable[[Task, Part, Sequence[CallEvidence]], MetricValue]


class PartsWatch:
    """Implements the Watch port for one attempt.

    Only what happened since it became a part's turn counts for it, so each part remembers how far the log of
    interactions was then.
    """

    def __init__(self, context: TaskContext, look: Look) -> None:
        """Args: context: the desktop that is looked at; look: finds the verdict, apart from this process."""
        self._context = context
        self._task = context.task
        self._look = look
        self._turns = Turns(self._task.evaluator)
        self._since: dict[str, int] = {}
        self._last = 0
        self._evidence: dict[str, Sequence[CallEvidence]] = {}

    @property
    def evidence(self) -> Mapping[str, Sequence[CallEvidence]]:
        """By part: what decided that it was reached, else what was seen last. Without those never looked at."""
        return self._evidence

    def begin(self) -> None:
        """See the port."""
        self._advance()
        self._open()

    def after(self, step: int) -> bool:
        """See the port."""
        for part in self._turns.open():
            if self._reached(part, step):
                self._turns.reach(part.name, step)
        self._advance()
        self._open()
        return not self._turns.stalled(step)

    def _reached(self, part: Part, step: int) -> bool:
        self._context.since = self._since[part.name]
        seen = [self._gathered(part, position).model_copy(update={"step": step}) for position in range(len(part.calls))]
        self._evidence[part.name] = seen
        return is_solved(self._look(self._task, part, seen).value)

    def _gathered(self, part: Part, position: int) -> CallEvidence:
        try:
            return gather(self._context, self._task, part.calls[position])
        except (Lost, GuestRefused):
            raise
        except DeskarenaError as error:
            raise EvaluatorFailed(f"part {part.name}: {error.message}", hint=error.hint) from error

    def _open(self) -> None:
        for part in self._turns.open():
            self._since.setdefault(part.name, self._last)

    def _advance(self) -> None:
        """Moves on to the end of the log; a desktop without one has parts that do not ask for it."""
        with suppress(GuestRefused):
            while found := self._context.desktop.interactions(self._last):
                self._last = max(self._last, *(entry.number for entry in found))
