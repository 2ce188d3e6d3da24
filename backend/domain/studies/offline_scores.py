"""How far an agent's actions at a recorded step are the right ones: the metrics of Mind2Web, AndroidControl, OmniACT.

Sources:
- Mind2Web: X. Deng et al., "Mind2Web: Towards a generalist agent for the web", arXiv 2306.06070, section 4.1, and
  `src/action_prediction/metric.py` of its repository.
- AndroidControl: W. Li et al., "On the effects of data scale on UI control agents", arXiv 2406.03679. A click is right
  as in C. Rawles et al., "Android in the wild", arXiv 2307.10088 (`_TAP_DISTANCE_THRESHOLD` in its
  `action_matching.py`), and Z. Wu et al., "OS-Atlas", arXiv 2410.23218.
- OmniACT: R. Kapoor et al., "OmniACT", arXiv 2402.17553, section 4, as the script computes it that is published with
  the data set and with models that report these figures.
"""

import math
from collections import Counter
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from backend.domain.model.demonstration import Box, Reference
from backend.domain.model.run import ScreenSize
from backend.domain.model.trajectory import Action, ActionType

CLICK_DISTANCE = 0.14
"""Share of the screen by which a click may miss the recorded point where no element is known (Android in the wild)."""
SEQUENCE_BASE, SEQUENCE_STEP = 0.1, 1.0
"""OmniACT's beta 1 and beta 2: score of a right sequence of one action, and of each further action."""
_LONGEST_GRAM = 2
_IDLE = frozenset({ActionType.WAIT, ActionType.DONE})
_KINDS = {
    ActionType.CLICK: "click",
    ActionType.MOUSE_DOWN: "long_press",
    ActionType.DRAG_TO: "drag",
    ActionType.MOVE_TO: "hover",
    ActionType.SCROLL: "scroll",
    ActionType.WAIT: "wait",
    ActionType.DONE: "done",
    ActionType.FAIL: "fail",
}
_KEYS = frozenset({ActionType.PRESS, ActionType.HOTKEY, ActionType.KEY_DOWN})


class ActionSummary(NamedTuple):
    """Summary of a step's actions.

    Attributes:
        kind: `click`, `type`, `key`, ...; empty without an action.
        value: the text, keys or direction.
        point: where, in pixels of the screen; None if the actions name no place.
    """

    kind: str
    value: str = ""
    point: tuple[int, int] | None = None


class StepScore(NamedTuple):
    """Of one step. None: the metric is not defined for it.

    Attributes:
        type_match: the right kind of action.
        grounding: AndroidControl: the right place; None if the right action has none.
        step_success: AndroidControl: kind, place and argument are right.
        element: Mind2Web: the point lies on a right element; None if none is known.
        operation_f1: Mind2Web: F1 of the tokens of operation and value.
        web_success: Mind2Web: element and operation are right; None if the right place is on no known element.
        sequence: OmniACT: score of the sequence of actions.
        penalty: OmniACT: what is taken off for places, keys and texts.
        sequence_most: OmniACT: the best sequence score; 0 where nothing is to be done.
    """

    type_match: bool
    grounding: bool | None
    step_success: bool
    element: bool | None
    operation_f1: float
    web_success: bool | None
    sequence: float
    penalty: float
    sequence_most: float

    @property
    def action_score(self) -> float:
        """OmniACT's action score of the step, not divided by the best one."""
        return max(self.sequence - self.penalty, 0.0)


def step_score(reference: Reference, actions: Sequence[Action], screen: ScreenSize) -> StepScore:
    """Compares an agent's actions with the right ones.

    Args:
        reference: what is right.
        actions: the agent's, in pixels of the screen; empty for an invalid answer, which is wrong.
        screen: its size.
    """
    answer, right = summary(actions), summary([action.action for action in reference.actions])
    accepted = [right, *(summary([alternative]) for alternative in reference.alternatives)]
    boxes = _boxes_of_point(reference)
    type_match = any(_same_kind(answer, accepted_answer) for accepted_answer in accepted)
    grounding = None if right.point is None else _is_at(answer.point, right.point, boxes, screen)
    is_right = any(
        _same_kind(answer, accepted_answer) and _same_value(answer, accepted_answer) for accepted_answer in accepted
    )
    element = any(box.holds(*answer.point) for box in boxes) if boxes and answer.point else False if boxes else None
    f1 = operation_f1(_operation(answer, reference), _operation(right, reference))
    sequence, penalty = _omniact(reference, actions)
    return StepScore(
        type_match=type_match,
        grounding=grounding,
        step_success=is_right and grounding is not False,
        element=element,
        operation_f1=f1,
        web_success=None if right.point and not boxes else element is not False and f1 == 1.0,
        sequence=sequence,
        penalty=penalty,
        sequence_most=_best(len(_sequence(action.action for action in reference.actions))),
    )


def summary(actions: Sequence[Action]) -> ActionSummary:
    """Summary of actions: the text if anything is typed, else the first one that does more than point or wait."""
    point = next(((action.x, action.y) for action in actions if action.x is not None and action.y is not None), None)
    texts = [action.text for action in actions if action.type is ActionType.TYPING]
    if texts:
        return ActionSummary("type", "".join(texts), point)
    does_more = [action for action in actions if action.type not in {ActionType.MOVE_TO, ActionType.WAIT}]
    first = next(iter(does_more or actions), None)
    if first is None:
        return ActionSummary("")
    if first.type in _KEYS:
        keys = [key for action in does_more if action.type in _KEYS for key in action.keys]
        return ActionSummary("key", "+".join(key.lower() for key in (keys if len(first.keys) < 2 else first.keys)))  # noqa: PLR2004 - a combination
    return ActionSummary(_KINDS.get(first.type, "other"), _direction(first), point)


def _direction(action: Action) -> str:
    if action.type is not ActionType.SCROLL:
        return ""
    if abs(action.dy) >= abs(action.dx):
        return "up" if action.dy > 0 else "down"
    return "right" if action.dx > 0 else "left"


def _same_kind(answer: ActionSummary, right: ActionSummary) -> bool:
    """Each key is a kind of its own, as going back and going home are different actions of a phone."""
    return answer.kind == right.kind and (answer.kind != "key" or answer.value == right.value)


def _same_value(answer: ActionSummary, right: ActionSummary) -> bool:
    return _fold_case(answer.value) == _fold_case(right.value)


def _fold_case(text: str) -> str:
    return " ".join(text.casefold().split())


def _boxes_of_point(reference: Reference) -> Sequence[Box]:
    """Of the first right action that has a place."""
    return next((action.boxes for action in reference.actions if action.action.x is not None), ())


def _is_at(answer: tuple[int, int] | None, right: tuple[int, int], boxes: Sequence[Box], screen: ScreenSize) -> bool:
    """On a right element, or within 14 % of the screen, the distance being that of shares of width and height."""
    if answer is None:
        return False
    if any(box.holds(*answer) for box in boxes):
        return True
    across, down = (answer[0] - right[0]) / screen.width, (answer[1] - right[1]) / screen.height
    return math.hypot(across, down) <= CLICK_DISTANCE


def operation_f1(answer: str, right: str) -> float:
    """Mind2Web's F1 of two texts such as `TYPE New York`: over the sets of their words, in [0, 1]."""
    first, second = set(answer.split()), set(right.split())
    if not first or not second:
        return float(first == second)
    both = len(first & second)
    return 2 * both / (len(first) + len(second))


def _operation(answer: ActionSummary, reference: Reference) -> str:
    """The answer as `OP value`. Desktops have no action SELECT: a typed option counts as selected."""
    return f"{_word(answer, reference)} {answer.value}".strip()


def _word(summary: ActionSummary, reference: Reference) -> str:
    if summary.kind == "type" and reference.operation.upper() == "SELECT":
        return "SELECT"
    return summary.kind.upper()


def _sequence(actions: Iterable[Action]) -> list[Action]:
    return [action for action in actions if action.type not in _IDLE]


def _best(length: int) -> float:
    """Score of a right sequence."""
    return SEQUENCE_BASE + SEQUENCE_STEP * (length - 1) if length else 0.0


def _name(action: Action) -> str:
    """The call of pyautogui that the action is."""
    return f"{action.type}:{action.button}:{action.clicks}" if action.type is ActionType.CLICK else action.type


def _omniact(reference: Reference, actions: Sequence[Action]) -> tuple[float, float]:
    """(sequence score, penalty): 0 if the calls are not the right ones in the right order."""
    right = [action for action in reference.actions if action.action.type not in _IDLE]
    answer = _sequence(actions)
    if [_name(reference_action.action) for reference_action in right] != [_name(call) for call in answer]:
        return 0.0, 0.0
    score = _best(len(right))
    weight = score / max(len(right), 1)
    penalties = (_penalty(call, own.action, own.boxes) for own, call in zip(right, answer, strict=True))
    return score, weight * sum(penalties)


def _penalty(answer: Action, right: Action, boxes: Sequence[Box]) -> float:
    """Of one action, in [0, 1]: for a click, the more the farther it misses, and the less the larger the element is.

    Scrolling has no penalty. A place on no known element counts as an element of one pixel.
    """
    if right.type is ActionType.TYPING:
        return 1.0 - bleu(answer.text, right.text)
    if right.type in _KEYS:
        return float(set(map(str.lower, answer.keys)) != set(map(str.lower, right.keys)))
    if right.x is None or right.y is None:
        return 0.0
    if answer.x is None or answer.y is None:
        return 1.0
    return min(
        click_penalty((answer.x, answer.y), box) for box in boxes or (Box(x=right.x, y=right.y, width=1, height=1),)
    )


def click_penalty(point: tuple[float, float], box: Box) -> float:
    """OmniACT's click penalty of one action without its weight: 1 - mu / (mu + L2).

    L2 is the distance from the box, 0 inside; mu is the box's diagonal.

    Args:
        point: in pixels.
        box: of the element.
    """
    across = max(box.x - point[0], 0.0, point[0] - box.x - box.width)
    down = max(box.y - point[1], 0.0, point[1] - box.y - box.height)
    smoothing = math.hypot(box.width, box.height)
    return 1.0 - smoothing / (smoothing + math.hypot(across, down))


def bleu(answer: str, right: str) -> float:
    """BLEU of one text against one reference, without regard to case: over characters and pairs of them.

    For a reference of one character only that counts; OmniACT's script gives 0 even to the right one.
    Source: K. Papineni et al., "BLEU: a method for automatic evaluation of machine translation", ACL 2002.
    """
    first, second = answer.lower(), right.lower()
    if not first or not second:
        return float(first == second)
    logs = []
    for size in range(1, min(_LONGEST_GRAM, len(second)) + 1):
        own, other = _grams(first, size), _grams(second, size)
        hits = sum((own & other).values())
        if not hits:
            return 0.0
        logs.append(math.log(hits / sum(own.values())))
    brevity = min(0.0, 1.0 - len(second) / len(first))
    return math.exp(brevity + sum(logs) / len(logs))


def _grams(text: str, size: int) -> Counter[str]:
    return Counter(text[start : start + size] for start in range(len(text) - size + 1))
