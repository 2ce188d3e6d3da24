"""AndroidControl's episodes as JSON: the fields of its TFRecords, with paths in place of the pictures' bytes.

Form: google-research, `android_control/README.md`.
"""

from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.demonstrations._folder import SetFolder
from backend.domain.errors import Invalid
from backend.domain.model.demonstration import (
    Box,
    Demonstration,
    DemonstrationStep,
    Reference,
    ReferenceAction,
    ScreenElement,
)
from backend.domain.model.trajectory import Action, ActionType

NOTE = """The screen is that of a phone. Click to tap; hold the mouse button down to press long; scroll with the wheel;
type a text to write it into the field in focus. The key esc goes back, the key home goes to the home screen. To open an
app, type "open" and its name. Do one action."""
_BACK = (("esc",), ("browserback",), ("alt", "left"))
_HOME = (("home",), ("win",))
_WHEEL = {"up": {"dy": 5}, "down": {"dy": -5}, "left": {"dx": -5}, "right": {"dx": 5}}
_SIDES = ("x_min", "y_min", "x_max", "y_max")
_MOST_NAME = 200


def demonstrations(folder: SetFolder) -> Iterator[Demonstration]:
    """The episodes of all JSON files.

    Raises:
        Invalid: an action is none of AndroidControl's, or lists are not of the same length.
    """
    for name, episode in folder.json_objects():
        if "goal" in episode and isinstance(episode.get("actions"), list):
            yield _demonstration(name, episode)


def _demonstration(name: str, episode: Mapping[str, Any]) -> Demonstration:
    actions, pictures = episode["actions"], episode.get("screenshots") or []
    if len(pictures) < len(actions):
        raise Invalid(
            f"{len(actions)} actions, but {len(pictures)} screenshots", code="demonstrations_invalid", path=name
        )
    words, trees = episode.get("step_instructions") or [], episode.get("accessibility_trees") or []
    steps = []
    for index, action in enumerate(actions):
        elements = tuple(_elements(trees[index])) if index < len(trees) else ()
        spoken = str(words[index]) if index < len(words) else ""
        reference = _reference(name, action, elements)
        steps.append(
            DemonstrationStep(image=str(pictures[index]), reference=reference, elements=elements, words=spoken)
        )
    labels = {key: str(episode[key])[:200] for key in ("split", "app", "category") if episode.get(key)}
    identity = str(episode.get("episode_id", name))
    return Demonstration(id=identity, instruction=str(episode["goal"]), note=NOTE, labels=labels, steps=tuple(steps))


def _reference(name: str, action: Mapping[str, Any], elements: Sequence[ScreenElement]) -> Reference:
    word = str(action.get("action_type"))
    point = {"x": round(action["x"]), "y": round(action["y"])} if "x" in action and "y" in action else {}
    value, alternatives = "", tuple[Action, ...]()
    match word:
        case "click" | "long_press":
            kind = ActionType.CLICK if word == "click" else ActionType.MOUSE_DOWN
            boxes = smallest_box(elements, point)
            return Reference(operation=word, actions=(ReferenceAction(action=Action(type=kind, **point), boxes=boxes),))
        case "scroll":
            value = str(action.get("direction"))
            if value not in _WHEEL:
                raise Invalid(f"there is no direction {value[:50]!r}", code="demonstrations_invalid", path=name)
            right = Action(type=ActionType.SCROLL, **_WHEEL[value])
        case "type" | "input_text":
            value = str(action.get("text", ""))
            right = Action(type=ActionType.TYPING, text=value)
        case "open_app":
            value = str(action.get("app_name", ""))
            right = Action(type=ActionType.TYPING, text=f"open {value}")
            alternatives = (Action(type=ActionType.TYPING, text=value),)
        case "navigate_back" | "navigate_home":
            keys = _BACK if word == "navigate_back" else _HOME
            right, *alternatives_left = (_keys(key) for key in keys)
            alternatives = tuple(alternatives_left)
        case "wait":
            right = Action(type=ActionType.WAIT)
        case _:
            raise Invalid(f"AndroidControl has no action {word[:50]!r}", code="demonstrations_invalid", path=name)
    own = [ReferenceAction(action=right)]
    if word == "type" and point:
        own.insert(
            0, ReferenceAction(action=Action(type=ActionType.CLICK, **point), boxes=smallest_box(elements, point))
        )
    return Reference(operation=word, value=value, actions=tuple(own), alternatives=alternatives)


def _keys(names: Sequence[str]) -> Action:
    return Action(type=ActionType.PRESS if len(names) == 1 else ActionType.HOTKEY, keys=tuple(names))


def smallest_box(elements: Sequence[ScreenElement], point: Mapping[str, int]) -> tuple[Box, ...]:
    """The smallest element's box that holds the point `{x, y}`; empty if none does."""
    if not point:
        return ()
    boxes = [element.box for element in elements if element.box.holds(point["x"], point["y"])]
    return (min(boxes, key=lambda box: box.width * box.height),) if boxes else ()


def _elements(tree: Any) -> Iterator[ScreenElement]:
    """Of a list of nodes with `bbox_pixels`, as AndroidControl's own code writes them; other trees are not read."""
    for node in tree if isinstance(tree, list) else ():
        box = node.get("bbox_pixels") or {}
        if not all(isinstance(box.get(key), int | float) for key in _SIDES):
            continue
        left, top, right, bottom = (float(box[key]) for key in _SIDES)
        if right > left and bottom > top:
            name = str(node.get("text") or node.get("content_description") or "")[:_MOST_NAME]
            role = "entry" if node.get("is_editable") else "push-button" if node.get("is_clickable") else "label"
            yield ScreenElement(role=role, name=name, box=Box(x=left, y=top, width=right - left, height=bottom - top))
