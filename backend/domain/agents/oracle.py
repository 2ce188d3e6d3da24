"""`oracle`: solves a task by the recipe that comes with it, mouse and keyboard only, waiting on what it sees.

It proves that a task can be done and that its evaluator says so. Of the desktop it sees the accessibility tree and the
window list, nothing else. Widgets that a step needs are waited for with WAIT, a bounded number of times.
"""

from typing import Any

from backend.domain.agents._oracle_steps import OracleStep, Selector, read_solution
from backend.domain.errors import AgentFailed, Invalid
from backend.domain.evaluators.formats.accessibility import WINDOW_ROLES, Widget, widgets
from backend.domain.parameters import Parameters
from backend.domain.ports_agent import AgentContext
from backend.domain.registry import Kind, register
from backend.domain.trajectory import Action, ActionType, Decision, Observation

_BLIND = frozenset({"type", "press", "hotkey"})  # need no widget, so they may follow another action at once


@register(Kind.AGENT, "oracle")
class Oracle:
    """Plays the task's own solution. Says FAIL on an infeasible task that has none."""

    Params = Parameters
    observation = "a11y_tree"
    needs_tree = True
    action_space = "computer_13"
    about = "Plays the solution that comes with the task: proves that the task can be done and is scored rightly."
    privileged = True

    def __init__(self, params: Any) -> None:
        self.params = params
        self._steps: tuple[OracleStep, ...] = ()
        self._next = 0
        self._looks = 0

    def reset(self, context: AgentContext) -> None:
        """Reads the solution. Raises AgentFailed if the task has none."""
        if context.task is None:
            raise AgentFailed("the oracle was not given the task")
        recipe = context.task.oracle
        if recipe is None and context.task.evaluator.infeasible:
            recipe = ({"fail": "the task is infeasible"},)
        if recipe is None:
            raise AgentFailed(f"the task {context.task.key} has no oracle solution")
        self._steps, self._next, self._looks = read_solution(recipe), 0, 0

    def act(self, observation: Observation) -> Decision:
        """See the port. One decision covers what can be done without looking again.

        Raises:
            AgentFailed: what a step waits for did not come.
        """
        screen = _Screen(observation)
        actions: list[Action] = []
        words: list[str] = []
        while self._next < len(self._steps):
            step = self._steps[self._next]
            if actions and step.verb not in _BLIND:
                break  # The screen will have changed: look first.
            done, found = _try(step, screen)
            if not done:
                return self._look_again(step, screen)
            words.append(step.note or describe(step))
            actions += found
            self._next, self._looks = self._next + 1, 0
            if step.fail is not None:
                break
        if not actions:
            return Decision(actions=(Action(type=ActionType.DONE),), words="; ".join([*words, "all is done"]))
        return Decision(actions=tuple(actions), words="; ".join(words))

    def close(self) -> None:
        """Nothing to release."""

    def _look_again(self, step: OracleStep, screen: "_Screen") -> Decision:
        self._looks += 1
        if self._looks > step.patience:
            raise AgentFailed(
                f"step {self._next + 1} of {len(self._steps)} ({describe(step)}) waited {step.patience} times in vain; "
                f"windows: {', '.join(screen.titles) or 'none'}"
            )
        return Decision(
            actions=(Action(type=ActionType.WAIT),), words=f"waiting for step {self._next + 1}: {describe(step)}"
        )


def describe(step: OracleStep) -> str:
    """A step in words."""
    value = getattr(step, step.verb)
    verb = step.verb.replace("_", " ")
    if isinstance(value, Selector):
        return f"{verb} {value.words()}"
    return f"{verb} {value!r}" if isinstance(value, str) else f"{verb} {value}"


class _Screen:
    """What the oracle sees of one observation."""

    def __init__(self, observation: Observation) -> None:
        if observation.a11y_tree is None:
            raise AgentFailed("the oracle needs an observation space with the accessibility tree")
        try:
            self._widgets = widgets(observation.a11y_tree)
        except Invalid as error:
            raise AgentFailed(error.message) from error
        listed = observation.windows
        if listed is None:
            frames = [one for one in self._widgets if one.role in WINDOW_ROLES]
            self.titles = [one.name for one in frames]
            self._active = [one.name for one in frames if "active" in one.states]
        else:
            self.titles = [window.title for window in listed]
            self._active = [window.title for window in listed if window.active]

    def has_window(self, title: str, *, active: bool) -> bool:
        return any(title in name for name in (self._active if active else self.titles))

    def find(self, selector: Selector) -> Widget | None:
        fitting = [one for one in self._widgets if selector.fits(one)]
        fitting = [one for one in fitting if one.in_active] or fitting
        try:
            return fitting[selector.index]
        except IndexError:
            return None


def _try(step: OracleStep, screen: _Screen) -> tuple[bool, list[Action]]:
    """Whether the step can be done now, and by which actions."""
    if step.drag is not None:
        start, end = screen.find(step.drag.start), screen.find(step.drag.end)
        return start is not None and end is not None, _dragged(step, start, end)
    if step.scroll is not None:
        place = screen.find(step.scroll.at)
        over = [] if place is None else [_point(ActionType.MOVE_TO, place, step.scroll.at)]
        return place is not None, [*over, Action(type=ActionType.SCROLL, dy=step.scroll.dy)]
    for selector, kind, extra in _pointing(step):
        widget = screen.find(selector)
        return widget is not None, [] if widget is None else [_point(kind, widget, selector, **extra)]
    return _seen(step, screen), _keyboard(step)


def _seen(step: OracleStep, screen: _Screen) -> bool:
    """For steps that wait; those that only press keys need see nothing."""
    if step.wait is not None:
        return screen.find(step.wait) is not None
    if step.wait_gone is not None:
        return screen.find(step.wait_gone) is None
    if step.wait_window is not None:
        return screen.has_window(step.wait_window, active=True)
    return step.wait_window_gone is None or not screen.has_window(step.wait_window_gone, active=False)


def _keyboard(step: OracleStep) -> list[Action]:
    if step.type is not None:
        return [Action(type=ActionType.TYPING, text=step.type)]
    if step.press is not None:
        return [Action(type=ActionType.PRESS, keys=(step.press,))]
    if step.hotkey is not None:
        return [Action(type=ActionType.HOTKEY, keys=step.hotkey)]
    return [] if step.fail is None else [Action(type=ActionType.FAIL, note=step.fail)]


def _pointing(step: OracleStep) -> list[tuple[Selector, ActionType, dict[str, Any]]]:
    found: list[tuple[Selector | None, ActionType, dict[str, Any]]] = [
        (step.click, ActionType.CLICK, {}),
        (step.double_click, ActionType.CLICK, {"clicks": 2}),
        (step.right_click, ActionType.CLICK, {"button": "right"}),
        (step.move_to, ActionType.MOVE_TO, {}),
    ]
    return [(selector, kind, extra) for selector, kind, extra in found if selector is not None]


def _dragged(step: OracleStep, start: Widget | None, end: Widget | None) -> list[Action]:
    if step.drag is None or start is None or end is None:
        return []
    return [_point(ActionType.MOVE_TO, start, step.drag.start), _point(ActionType.DRAG_TO, end, step.drag.end)]


def _point(kind: ActionType, widget: Widget, selector: Selector, **extra: Any) -> Action:
    x, y, width, height = widget.rect or (0, 0, 0, 0)
    across, down = selector.at
    return Action(type=kind, x=x + int(width * across), y=y + int(height * down), **extra)
