"""Whose turn it is among the parts of a task that are looked at after each of the agent's steps."""

from backend.domain.model.task import EvaluatorSpec, Part


class CheckpointTurns:
    """The state of a task's stepwise parts: waiting, open (all before it are reached), reached.

    OmniBench calls them Waiting, Evaluating and Completed. Protocols reference, section 6.
    """

    def __init__(self, spec: EvaluatorSpec) -> None:
        """Takes the parts of `spec` that are looked at after each step, and its patience."""
        self._parts = [part for part in spec.parts if part.each_step]
        self._patience = spec.patience
        self._reached: dict[str, int] = {}

    @property
    def reached(self) -> dict[str, int]:
        """Step after which each reached part was found so, by name, in the order of reaching."""
        return dict(self._reached)

    @property
    def finished(self) -> bool:
        """True when all are reached."""
        return len(self._reached) == len(self._parts)

    def open(self) -> tuple[Part, ...]:
        """The parts whose turn it is, in the task's order."""
        return tuple(
            part
            for part in self._parts
            if part.name not in self._reached and all(before in self._reached for before in part.after)
        )

    def reach(self, name: str, step: int) -> None:
        """Notes that a part was found to be reached after that step. What it releases is open from then on."""
        self._reached.setdefault(name, step)

    def stalled(self, step: int) -> bool:
        """True if, after that step, the patience is used up: that number of steps without anything newly reached."""
        if self._patience is None or self.finished:
            return False
        last = max(self._reached.values(), default=-1)
        return step - last >= self._patience
