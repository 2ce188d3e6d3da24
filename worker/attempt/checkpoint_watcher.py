"""Looks, after each of the agent's steps, at the parts of the task whose turn it is."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from backend.domain.errors import DeskarenaError, EvaluatorFailed, GuestRefused, MachineLost, MissingEvidence
from backend.domain.evaluators.evaluate import CallEvidence, gather
from backend.domain.evaluators.facts import Fact, gather_more, with_facts
from backend.domain.loop.interaction_log import log_after
from backend.domain.model.checkpoints import CheckpointTurns
from backend.domain.model.score import MetricValue, is_solved
from backend.domain.model.task import MetricCall, Part, Task
from worker.attempt.task_context import TaskContext

MOST_ROUNDS = 10
"""How often an evaluation function may ask for more within one look."""
Look = Callable[[Task, Part, Sequence[CallEvidence]], MetricValue]


class CheckpointWatcher:
    """Implements the Watch port for one attempt.

    Only what happened since it became a part's turn counts for it, so each part remembers how far the log of
    interactions was then.
    """

    def __init__(self, context: TaskContext, look: Look) -> None:
        """Args: context: the desktop that is looked at; look: finds the verdict, apart from this process."""
        self._context = context
        self._task = context.task
        self._look = look
        self._turns = CheckpointTurns(self._task.evaluator)
        self._since: dict[str, int] = {}
        self._last = 0
        self._evidence: dict[str, Sequence[CallEvidence]] = {}
        self._asked: dict[str, Sequence[Fact]] = {}

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
        """Looks at the part. What its evaluation function asks for is gathered, and it is asked again.

        What it asked for at the last step is gathered at once: it mostly wants the same again.
        """
        self._context.since = self._since[part.name]
        facts = list(self._asked.get(part.name, ()))
        evidence = [self._gathered(part, call, step, facts) for call in part.calls]
        for _ in range(MOST_ROUNDS):
            self._evidence[part.name] = evidence
            try:
                return is_solved(self._look(self._task, part, evidence).value)
            except MissingEvidence as more:
                evidence = [
                    self._with_part_name(part, partial(gather_more, self._context, self._task, call, known, more.facts))
                    for call, known in zip(part.calls, evidence, strict=True)
                ]
                facts += more.facts
                self._asked[part.name] = facts
        raise EvaluatorFailed(
            f"part {part.name}: its evaluation function asked for more {MOST_ROUNDS} times", code="too_many_checks"
        )

    def _gathered(self, part: Part, call: MetricCall, step: int, facts: Sequence[Fact]) -> CallEvidence:
        evidence = self._with_part_name(part, partial(gather, self._context, self._task, with_facts(call, facts)))
        return evidence.model_copy(update={"step": step})

    @staticmethod
    def _with_part_name(part: Part, gathering: Callable[[], CallEvidence]) -> CallEvidence:
        """What cannot be gathered is told with the part's name."""
        try:
            return gathering()
        except (MachineLost, GuestRefused):
            raise
        except DeskarenaError as error:
            raise EvaluatorFailed(
                f"part {part.name}: {error.message}", code="evaluation_failed", hint=error.hint
            ) from error

    def _open(self) -> None:
        for part in self._turns.open():
            self._since.setdefault(part.name, self._last)

    def _advance(self) -> None:
        """Moves on to the end of the log; a desktop without one has parts that do not ask for it."""
        try:
            entries = log_after(self._context.desktop, self._last)
        except GuestRefused as error:
            if error.kind == "failed":  # There is a log, and it broke off: whose turn it was when is not known.
                raise
            return
        self._last = max((entry.number for entry in entries), default=self._last)
