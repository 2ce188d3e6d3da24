"""OmniACT's tasks: a JSON index, for each task a text with its script, a screenshot and the boxes of its elements.

Form: the data set card of Writer/omniact. A task is one step, whose right action is the whole script.
"""

import re
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from backend.domain import registry
from backend.domain.demonstrations._folder import SetFolder
from backend.domain.demonstrations.android_control import smallest_box
from backend.domain.errors import Invalid
from backend.domain.model.demonstration import (
    Box,
    Demonstration,
    DemonstrationStep,
    Reference,
    ReferenceAction,
    ScreenElement,
)
from backend.domain.model.trajectory import Action
from backend.domain.registry import PluginKind

NOTE = "Answer at once with all actions of the whole task, and only with those, on the screen as it is shown."
_TASK = re.compile(r"Task:\s*(?P<task>.+?)\s*Output Script:\s*(?P<script>.+)", re.DOTALL)
_NEEDED = ("task", "image", "box")


def demonstrations(folder: SetFolder) -> Iterator[Demonstration]:
    """The tasks of every index: a JSON object of objects with `task`, `image` and `box`.

    Raises:
        Invalid: a file is missing, or a script has other code than plain calls of pyautogui.
    """
    for name, index in folder.json_objects((".json",)):
        for key, entry in index.items():
            if isinstance(entry, dict) and all(isinstance(entry.get(part), str) for part in _NEEDED):
                yield _demonstration(folder, f"{name.removesuffix('.json')}/{key}", entry)


def _demonstration(folder: SetFolder, identity: str, entry: Mapping[str, Any]) -> Demonstration:
    match = _TASK.search(folder.text(entry["task"]))
    if match is None:
        raise Invalid("expected `Task:` and `Output Script:`", code="demonstrations_invalid", path=entry["task"])
    elements = tuple(_elements(folder.json(entry["box"]), entry["box"]))
    registry.load()
    space = registry.lookup(PluginKind.ACTION_SPACE, "pyautogui")()
    try:
        actions = space.parse(f"```python\nimport pyautogui\n{match['script'].strip()}\n```")
    except Invalid as error:
        raise Invalid(error.message, code="demonstrations_invalid", path=entry["task"]) from error
    right = tuple(ReferenceAction(action=action, boxes=_boxes(elements, action)) for action in actions)
    parts = entry["image"].split("/")
    labels = {"platform": next((part for part in parts if part in {"desktop", "web"}), ""), "app": parts[-2:][0]}
    return Demonstration(
        id=identity[-200:],
        instruction=match["task"],
        note=NOTE,
        labels={name: value for name, value in labels.items() if value},
        steps=(DemonstrationStep(image=entry["image"], reference=Reference(actions=right), elements=elements),),
    )


def _boxes(elements: Sequence[ScreenElement], action: Action) -> tuple[Box, ...]:
    """Scripts point at the middle of an element: its box, else the smallest one that holds the point."""
    if action.x is None or action.y is None:
        return ()
    for box in (element.box for element in elements):
        if max(abs(box.x + box.width / 2 - action.x), abs(box.y + box.height / 2 - action.y)) < 1:
            return (box,)
    return smallest_box(elements, {"x": action.x, "y": action.y})


def _elements(boxes: Any, name: str) -> Iterator[ScreenElement]:
    try:
        for key, box in boxes.items():
            (left, top), (right, bottom) = box["top_left"], box["bottom_right"]
            if right > left and bottom > top:
                label = str(box.get("label") or key)[:200]
                yield ScreenElement(name=label, box=Box(x=left, y=top, width=right - left, height=bottom - top))
    except (AttributeError, KeyError, TypeError, ValueError) as error:
        raise Invalid(f"the boxes cannot be read: {error!r}"[:300], code="demonstrations_invalid", path=name) from error
