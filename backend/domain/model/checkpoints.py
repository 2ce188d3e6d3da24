"""Order of the parts of a task that are evaluated after each step."""

from backend.domain.model.task import EvaluatorSpec, Part


class CheckpointTurns:
    """State of a task's stepwise parts: waiting, open (all predecessors are reached), reached.

    OmniBench calls them Waiting, Evaluating and Completed. Protocols reference, section 6.
    """

    def __init__(self, spec: EvaluatorSpec) -> None:
        """Takes the stepwise parts of `spec` and its patience."""
        self._parts = [part for part in spec.parts if part.each_step]
        self._patience = spec.patience
        self._reached: dict[str, int] = {}

    @property
    def reached(self) -> dict[str, int]:
        """Reached parts: name -> step after which it was reached, in order."""
        return dict(self._reached)

    @property
    def finished(self) -> bool:
        """True when all are reached."""
        return len(self._reached) == len(self._parts)

    def open(self) -> tuple[Part, ...]:
        """The open parts, in the task's order."""
        return tuple(
            part
            for part in self._parts
            if part.name not in self._reached and all(before in self._reached for before in part.after)
        )

    def reach(self, name: str, step: int) -> None:
        """Marks a part as reached after a step, which opens its successors."""
        self._reached.setdefault(name, step)

    def stalled(self, step: int) -> bool:
        """True if, after that step, the patience is used up: too many steps without progress."""
        if self._patience is None or self.finished:
            return False
        last = max(self._reached.values(), default=-1)
        return step - last >= self._patience
