"""Checks the current parts of a task after each of the agent's steps."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial

from backend.domain.errors import DeskarenaError, EvaluatorFailed, GuestRefused, MachineLost, MissingEvidence
from backend.domain.evaluators.evaluate import CallEvidence, check_gathered, gather
from backend.domain.evaluators.facts import Fact, gather_more, with_facts
from backend.domain.loop.interaction_log import log_after
from backend.domain.model.checkpoints import CheckpointTurns
from backend.domain.model.score import MetricValue, is_solved
from backend.domain.model.task import MetricCall, Part, Task
from worker.attempt.task_context import TaskContext

MOST_ROUNDS = 10
"""Maximum number of further requests by an evaluation function within one check."""
Look = Callable[[Task, Part, Sequence[CallEvidence]], MetricValue]


class CheckpointWatcher:
    """Implements the Watch port for one attempt.

    A part counts only what happened since its turn began, so each part stores the position in the interaction log.
    """

    def __init__(self, context: TaskContext, look: Look) -> None:
        """Args: context: the desktop to check; look: computes the verdict in a separate process."""
        self._context = context
        self._task = context.task
        self._look = look
        self._turns = CheckpointTurns(self._task.evaluator)
        self._since: dict[str, int] = {}
        self._last = 0
        self._evidence: dict[str, Sequence[CallEvidence]] = {}
        self._requested: dict[str, Sequence[Fact]] = {}

    @property
    def evidence(self) -> Mapping[str, Sequence[CallEvidence]]:
        """By part: the evidence with which it was reached, else the last evidence.

        Without parts that were never checked.
        """
        return self._evidence

    def begin(self) -> None:
        self._advance()
        self._open()

    def after(self, step: int) -> bool:
        for part in self._turns.open():
            if self._reached(part, step):
                self._turns.reach(part.name, step)
        self._advance()
        self._open()
        return not self._turns.stalled(step)

    def _reached(self, part: Part, step: int) -> bool:
        """Checks the part. Gathers what its evaluation function requests and calls it again.

        What it requested at the last step is gathered at once: it usually requests the same again.
        """
        self._context.since = self._since[part.name]
        facts = list(self._requested.get(part.name, ()))
        evidence = [self._gather(part, call, step, facts) for call in part.calls]
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
                self._requested[part.name] = facts
        raise EvaluatorFailed(
            f"part {part.name}: its evaluation function requested more evidence {MOST_ROUNDS} "
            "times. Request all of it at once.",
            code="too_many_checks",
        )

    def _gather(self, part: Part, call: MetricCall, step: int, facts: Sequence[Fact]) -> CallEvidence:
        evidence = self._with_part_name(part, partial(gather, self._context, self._task, with_facts(call, facts)))
        check_gathered([evidence])
        return evidence.model_copy(update={"step": step})

    @staticmethod
    def _with_part_name(part: Part, gathering: Callable[[], CallEvidence]) -> CallEvidence:
        """Adds the part's name to errors while gathering evidence."""
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
        """Moves to the end of the log; a desktop without one has parts that do not need it."""
        try:
            entries = log_after(self._context.desktop, self._last)
        except GuestRefused as error:
            if error.kind == "failed":  # The log was interrupted: the order of events is unknown.
                raise
            return
        self._last = max((entry.number for entry in entries), default=self._last)
