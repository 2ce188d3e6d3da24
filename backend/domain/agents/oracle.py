"""`oracle`: solves a task by the solution that comes with it, using only mouse and keyboard.

It proves that a task is feasible and that its evaluator accepts the solution. It sees only the accessibility tree and
the window list. It waits for the widgets of a step with a bounded number of WAITs.
"""

from typing import Any

from backend.domain.errors import AgentFailed, Invalid
from backend.domain.model.parameters import Parameters
from backend.domain.model.trajectory import Action, ActionType, Decision, Observation
from backend.domain.ports.agent import AgentContext
from backend.domain.registry import PluginKind, register
from backend.domain.solutions.screen import BLIND, VisibleScreen, attempt, describe
from backend.domain.solutions.steps import OracleStep, read_solution


@register(PluginKind.AGENT, "oracle")
class Oracle:
    """Plays the task's own solution. Says FAIL on an infeasible task that has none."""

    Params = Parameters
    observation = "a11y_tree"
    needs_tree = True
    action_space = "computer_13"
    about = "Plays the solution stored with the task: proves that the task can be solved and is scored correctly."
    privileged = True

    def __init__(self, params: Any) -> None:
        self.params = params
        self._steps: tuple[OracleStep, ...] = ()
        self._next = 0
        self._looks = 0

    def reset(self, context: AgentContext) -> None:
        """Reads the solution. Raises AgentFailed if the task has none."""
        if context.task is None:
            raise AgentFailed("the oracle was not given its task", code="task_not_given")
        recipe = context.task.oracle
        if recipe is None and context.task.evaluator.infeasible:
            recipe = ({"fail": "the task is infeasible"},)
        if recipe is None:
            raise AgentFailed(f"the task {context.task.key} has no oracle solution", code="oracle_missing")
        self._steps, self._next, self._looks = read_solution(recipe), 0, 0

    def act(self, observation: Observation) -> Decision:
        """See the port. One decision covers what can be done without looking again.

        Raises:
            AgentFailed: what a step waits for did not appear.
        """
        screen = _screen(observation)
        actions: list[Action] = []
        words: list[str] = []
        while self._next < len(self._steps):
            step = self._steps[self._next]
            if actions and step.verb not in BLIND:
                break  # The screen changes now: observe first.
            done, step_actions = attempt(step, screen)
            if not done:
                return self._look_again(step, screen)
            words.append(step.note or describe(step))
            actions += step_actions
            self._next, self._looks = self._next + 1, 0
            if step.fail is not None:
                break
        if not actions:
            return Decision(actions=(Action(type=ActionType.DONE),), explanation="; ".join([*words, "Done"]))
        return Decision(actions=tuple(actions), explanation="; ".join(words))

    def close(self) -> None:
        """Nothing to release."""

    def _look_again(self, step: OracleStep, screen: VisibleScreen) -> Decision:
        self._looks += 1
        if self._looks > step.patience:
            raise AgentFailed(
                f"step {self._next + 1} of {len(self._steps)} ({describe(step)}) timed out after {step.patience} looks;"
                f" windows: {', '.join(screen.titles) or 'none'}",
                code="oracle_step_timeout",
            )
        return Decision(
            actions=(Action(type=ActionType.WAIT),), explanation=f"Waiting for step {self._next + 1}: {describe(step)}"
        )


def _screen(observation: Observation) -> VisibleScreen:
    if observation.a11y_tree is None:
        raise AgentFailed("the oracle needs an observation space with the accessibility tree", code="oracle_needs_tree")
    try:
        return VisibleScreen(observation.a11y_tree, observation.windows)
    except Invalid as error:
        raise AgentFailed(error.message, code="oracle_step_failed") from error
