"""Mind2Web's tasks: one JSON object a task, with `pos_candidates` and `operation` of each action.

Form: OSU-NLP-Group/Mind2Web, README, and the data set card of Multimodal-Mind2Web, whose screenshots are looked for as
files named after the action's `action_uid`.
"""

import json
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain.demonstrations._folder import SetFolder
from backend.domain.errors import Invalid
from backend.domain.model.demonstration import (
    MOST_BOXES,
    Box,
    Demonstration,
    DemonstrationStep,
    Reference,
    ReferenceAction,
    ScreenElement,
)
from backend.domain.model.trajectory import Action, ActionType

NOTE = """The screen shows a web page. Do one step: click an element; or click a field and type a text into it; or, to
choose an option of a list, click the list and type the option."""
_MOST_NAME = 200
_CLICKS = {"CLICK", "HOVER", "ENTER"}
"""Mind2Web's own evaluation treats all three as CLICK."""


def demonstrations(folder: SetFolder) -> Iterator[Demonstration]:
    """The tasks of all JSON files.

    Raises:
        Invalid: an action has no screenshot or is not as it has to be.
    """
    for name, task in folder.json_objects():
        if isinstance(task.get("actions"), list) and "confirmed_task" in task:
            yield _demonstration(folder, name, task)


def _demonstration(folder: SetFolder, name: str, task: Mapping[str, Any]) -> Demonstration:
    words = task.get("action_reprs") or []
    steps = [
        _step(folder, name, action, str(words[index]) if index < len(words) else "")
        for index, action in enumerate(task["actions"])
        if action.get("pos_candidates")  # Mind2Web's own evaluation counts the others as wrong, whatever an agent does.
    ]
    labels = {key: str(task[key])[:200] for key in ("website", "domain", "subdomain") if task.get(key)}
    return Demonstration(
        id=str(task.get("annotation_id") or f"{name}"),
        instruction=str(task["confirmed_task"]),
        note=NOTE,
        labels=labels,
        steps=tuple(steps),
    )


def _step(folder: SetFolder, name: str, action: Mapping[str, Any], message: str) -> DemonstrationStep:
    uid = str(action.get("action_uid", ""))
    image = folder.picture(uid)
    if image is None:
        raise Invalid(f"there is no screenshot of the action {uid!r}", code="demonstrations_invalid", path=name)
    right = [element for element in map(_element, action["pos_candidates"]) if element]
    if not right:
        raise Invalid(f"no right element of the action {uid!r} has a box", code="demonstrations_invalid", path=name)
    others = [element for element in map(_element, action.get("neg_candidates") or []) if element]
    operation = action.get("operation") or {}
    word, value = str(operation.get("op", "CLICK")).upper(), str(operation.get("value") or "")
    return DemonstrationStep(
        image=image,
        reference=Reference(
            operation="CLICK" if word in _CLICKS else word,
            value=value,
            actions=_actions(right, word, value),
        ),
        elements=(*right, *others),
        words=message,
    )


def _actions(right: Sequence[ScreenElement], word: str, value: str) -> tuple[ReferenceAction, ...]:
    box = right[0].box
    point = {"x": round(box.x + box.width / 2), "y": round(box.y + box.height / 2)}
    boxes = tuple(element.box for element in right[:MOST_BOXES])
    click = ReferenceAction(action=Action(type=ActionType.CLICK, **point), boxes=boxes)
    if word in _CLICKS:
        return (click,)
    return click, ReferenceAction(action=Action(type=ActionType.TYPING, text=value))


def _element(candidate: Mapping[str, Any]) -> ScreenElement | None:
    """None without a box of a size."""
    attributes = candidate.get("attributes") or {}
    if isinstance(attributes, str):
        try:
            attributes = json.loads(attributes)
        except ValueError:
            return None
    try:
        x, y, width, height = map(float, str(attributes.get("bounding_box_rect", "")).split(","))
    except ValueError:
        return None
    if width <= 0 or height <= 0:
        return None
    known = ("aria_label", "text_content", "inner_text", "title", "placeholder", "alt", "value", "name", "id")
    label = next((str(attributes[key]) for key in known if attributes.get(key)), "")
    role = {"a": "link", "input": "entry", "textarea": "entry", "select": "combo-box", "img": "image"}
    tag = role.get(str(candidate.get("tag", "")), "push-button")
    return ScreenElement(role=tag, name=label[:_MOST_NAME], box=Box(x=x, y=y, width=width, height=height))
