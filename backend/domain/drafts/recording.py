"""Converts a person's recorded actions into solution steps: widgets instead of points, waits instead of pauses.

A click is recorded as the widget under it, by role, name and application, so that it is found even if it moves. A
change of the front window between two actions becomes a wait for it.
"""

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from backend.domain.formats.accessibility import WINDOW_ROLES, Widget, widgets
from backend.domain.model.trajectory import Action, ActionType, Window
from backend.domain.solutions.steps import Selector

Step = dict[str, Any]
_LONGEST = 100
_WHOLE = frozenset(
    {
        "check-box", "check-menu-item", "column-header", "icon", "label", "link", "list-item", "menu", "menu-item",
        "page-tab", "push-button", "radio-button", "radio-menu-item", "split-button", "spin-button", "table-cell",
        "toggle-button", "tool-bar-item", "tree-item",
    }
)  # fmt: skip
"""Widgets on which any point means the same. On others (text, canvas, slider) the position counts."""
_PLACED = frozenset({"canvas", "combo-box", "document-frame", "entry", "password-text", "slider", "text", "terminal"})
"""The above and all other roles that identify a widget's purpose; an unnamed filler or panel does not."""


@dataclass(frozen=True)
class RecordingStep:
    """One recorded step: the screen, and the actions performed on it.

    Attributes:
        tree: the accessibility tree as XML.
        windows: bottom to top.
        actions: in screen pixels; empty for the last step, which shows the end state.
    """

    tree: str
    windows: Sequence[Window]
    actions: Sequence[Action] = ()


@dataclass
class RecordedSolution:
    """A recording as a solution.

    Attributes:
        steps: in the format of task files.
        problems: actions that cannot be replayed, one sentence each.
    """

    steps: list[Step] = field(default_factory=list)
    problems: list[str] = field(default_factory=list)


def to_solution(moments: Sequence[RecordingStep]) -> RecordedSolution:
    """Converts a recording into a solution.

    Raises:
        Invalid: an accessibility tree cannot be read.
    """
    recording = RecordedSolution()
    before: Sequence[Window] = ()
    for number, moment in enumerate(moments):
        acts = [action for action in moment.actions if action.type not in {ActionType.WAIT, ActionType.DONE}]
        last = number == len(moments) - 1
        if not acts and not last:
            continue
        if recording.steps or acts:
            recording.steps += _waits(before, moment.windows)
        before = moment.windows
        if acts:
            _translate(acts, widgets(moment.tree), recording)
    return recording


def _waits(before: Sequence[Window], now: Sequence[Window]) -> Iterator[Step]:
    """Waits for what changed since the last action: another front window, a closed one, a saved file."""
    old, new = _front(before), _front(now)
    if not old or old == new:
        return
    if _is_closed(old, now):
        yield {"wait_window_gone": old[:_LONGEST]}
    if new and _plain(old) != _plain(new):  # Ignores changes of the mark for unsaved changes.
        yield {"wait_window": _plain(new)[:_LONGEST]}


def _is_closed(title: str, now: Sequence[Window]) -> bool:
    """Whether no window's title contains that one; solutions match titles by substring."""
    return not any(title[:_LONGEST] in window.title for window in now)


def _front(windows: Sequence[Window]) -> str:
    return next((window.title for window in reversed(windows) if window.active), "")


def _plain(title: str) -> str:
    """A title without its mark of unsaved changes."""
    return title.strip().removeprefix("*").strip()


def _translate(acts: Sequence[Action], tree: Sequence[Widget], recording: RecordedSolution) -> None:
    first = acts[0]
    if first.type is ActionType.MOVE_TO and len(acts) > 1:
        _pair(first, acts[1], tree, recording)
        return
    for action in acts:
        _add_action(action, tree, recording)


def _pair(start: Action, follow_up: Action, tree: Sequence[Widget], recording: RecordedSolution) -> None:
    """Pairs a pointer move with the drag or scroll that follows it."""
    at = selector_at(tree, start)
    if follow_up.type is ActionType.DRAG_TO:
        end = selector_at(tree, follow_up)
        if at is None or end is None or follow_up.button != "left":
            recording.problems.append(
                f"A drag with the {follow_up.button} button was left out: no widget lies at one of its ends."
            )
        else:
            recording.steps.append({"drag": {"from": at, "to": end}})
    elif at is None or not follow_up.dy:
        recording.problems.append("A turn of the wheel was left out: it is sideways, or no widget lies under it.")
    else:
        recording.steps.append({"scroll": {"at": at, "dy": follow_up.dy}})


def _add_action(action: Action, tree: Sequence[Widget], recording: RecordedSolution) -> None:
    if action.type is ActionType.TYPING:
        recording.steps.append({"type": action.text})
    elif action.type is ActionType.PRESS:
        recording.steps.append({"press": action.keys[0]})
    elif action.type is ActionType.HOTKEY:
        recording.steps.append({"hotkey": list(action.keys)})
    elif action.type is ActionType.FAIL:
        recording.steps.append({"fail": "it cannot be done"})
    elif action.type in {ActionType.CLICK, ActionType.MOVE_TO}:
        _add_pointer_action(action, tree, recording)


def _add_pointer_action(action: Action, tree: Sequence[Widget], recording: RecordedSolution) -> None:
    verb = _verb(action)
    at = selector_at(tree, action)
    if not verb:
        recording.problems.append(f"A click with the {action.button} button, {action.clicks} times, was left out.")
    elif at is None:
        recording.problems.append(f"A click at ({action.x}, {action.y}) was left out: no widget lies there.")
    else:
        recording.steps.append({verb: at})


def _verb(action: Action) -> str:
    if action.type is ActionType.MOVE_TO:
        return "move_to"
    known = {("left", 1): "click", ("left", 2): "double_click", ("right", 1): "right_click"}
    return known.get((action.button, action.clicks), "")


def selector_at(tree: Sequence[Widget], action: Action) -> Mapping[str, Any] | None:
    """A selector that finds the widget under a point again; None if there is no widget."""
    x, y = action.x or 0, action.y or 0
    under = [node for node in tree if node.on_screen and _covers(node, x, y)]
    if not under:
        return None
    active = [node for node in under if node.in_active] or under
    # Of two widgets of the same size, the later one is the inner one.
    nearest = [node for _, node in sorted(enumerate(active), key=lambda pair: (_area(pair[1]), -pair[0]))]
    target = next((node for node in nearest if _says_something(node)), nearest[0])
    return _selector(target, tree, x, y)


def _covers(widget: Widget, x: int, y: int) -> bool:
    left, top, width, height = widget.rect or (0, 0, 0, 0)
    return left <= x < left + width and top <= y < top + height


def _area(widget: Widget) -> int:
    return (widget.rect or (0, 0, 0, 0))[2] * (widget.rect or (0, 0, 0, 0))[3]


def _says_something(widget: Widget) -> bool:
    return widget.role in _WHOLE | _PLACED or (bool(widget.name.strip()) and widget.role not in WINDOW_ROLES)


def _selector(widget: Widget, tree: Sequence[Widget], x: int, y: int) -> Mapping[str, Any]:
    selector: dict[str, Any] = {"role": widget.role.replace("-", " ")}
    name, text = widget.name.strip(), widget.text.strip()
    if name:
        selector |= {"name": name} if len(name) <= _LONGEST else {"name_has": name[:_LONGEST]}
    elif text and widget.role in _WHOLE:
        selector |= {"text": text} if len(text) <= _LONGEST else {"text_has": text[:_LONGEST]}
    if widget.app:
        selector["app"] = widget.app
    fitting = [node for node in tree if Selector(**selector).fits(node)]
    fitting = [node for node in fitting if node.in_active] or fitting
    index = next(number for number, node in enumerate(fitting) if node is widget)
    if index:
        selector["index"] = index
    if widget.role not in _WHOLE:
        left, top, width, height = widget.rect or (0, 0, 1, 1)
        selector["at"] = [round((x - left + 0.5) / width, 3), round((y - top + 0.5) / height, 3)]
    return selector
