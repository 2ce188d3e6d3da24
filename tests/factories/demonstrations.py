"""Small sets of demonstrations in each form, with pictures."""

import io
import json
import zipfile
from pathlib import Path
from typing import Any

from PIL import Image

PHONE = (540, 1200)
PAGE = (800, 600)


def picture(size: tuple[int, int] = PAGE, colour: str = "white") -> bytes:
    """A PNG of one colour."""
    target = io.BytesIO()
    Image.new("RGB", size, colour).save(target, "PNG")
    return target.getvalue()


def put(folder: Path, name: str, data: bytes | str | Any) -> None:
    """Writes bytes, a text, or JSON."""
    path = folder / name
    path.parent.mkdir(parents=True, exist_ok=True)
    if isinstance(data, bytes):
        path.write_bytes(data)
    else:
        path.write_text(data if isinstance(data, str) else json.dumps(data))


def candidate(tag: str, box: str, **attributes: str) -> dict[str, Any]:
    """A candidate as Mind2Web has it."""
    return {"tag": tag, "attributes": json.dumps({"bounding_box_rect": box, **attributes}), "backend_node_id": "1"}


def mind2web(folder: Path) -> Path:
    """One task of three actions, one of them without a right element."""
    search = candidate("input", "100,50,200,30", aria_label="Search <all>")
    size = candidate("select", "100,200,80,20", name="size")
    other = candidate("a", "500,50,60,20", text_content="Sign in")
    actions = [
        {
            "action_uid": "u1",
            "operation": {"op": "TYPE", "original_op": "TYPE", "value": "red shoes"},
            "pos_candidates": [search],
            "neg_candidates": [other, {"tag": "div", "attributes": "{}"}],
        },
        {"action_uid": "lost", "operation": {"op": "CLICK", "value": ""}, "pos_candidates": []},
        {
            "action_uid": "u2",
            "operation": {"op": "SELECT", "value": "42"},
            "pos_candidates": [size],
            "neg_candidates": [other],
        },
    ]
    task = {
        "annotation_id": "t1",
        "website": "shop",
        "domain": "Shopping",
        "confirmed_task": "Find red shoes of size 42",
        "action_reprs": ["[textbox] Search -> TYPE: red shoes", "", "[combobox] size -> SELECT: 42"],
        "actions": actions,
    }
    put(folder, "data/train_0.json", [task])
    for uid in ("u1", "u2"):
        put(folder, f"screenshots/{uid}.png", picture())
    return folder


def android_control(folder: Path) -> Path:
    """One episode with every kind of action."""
    actions = [
        {"action_type": "open_app", "app_name": "Clock"},
        {"action_type": "click", "x": 100, "y": 110},
        {"action_type": "input_text", "text": "07:30"},
        {"action_type": "scroll", "direction": "down"},
        {"action_type": "long_press", "x": 200, "y": 900},
        {"action_type": "navigate_back"},
        {"action_type": "wait"},
    ]
    node = {"bbox_pixels": {"x_min": 80, "y_min": 100, "x_max": 160, "y_max": 140}, "text": "Add", "is_clickable": True}
    whole = {"bbox_pixels": {"x_min": 0, "y_min": 0, "x_max": 540, "y_max": 1200}}
    names = [f"pictures/{number}.png" for number in range(len(actions) + 1)]
    put(
        folder,
        "episode.json",
        {
            "episode_id": 17,
            "goal": "Set an alarm for half past seven",
            "screenshots": names,
            "actions": actions,
            "step_instructions": [f"step {number}" for number in range(len(actions))],
            "accessibility_trees": [[], [whole, node]],
        },
    )
    for name in names:
        put(folder, name, picture(PHONE))
    return folder


def omniact(folder: Path) -> Path:
    """One task with a script of three calls."""
    calls = ("pyautogui.click(120.5,60)", "pyautogui.write('jazz')", "pyautogui.press('enter')")
    script = "\n".join(("Task: Search for music", "Output Script:", *calls))
    put(folder, "data/tasks/desktop/player/task_1.txt", script)
    boxes = {
        "example_0": {"top_left": [100, 50], "bottom_right": [140, 70], "label": "search"},
        "example_1": {"top_left": [118, 55], "bottom_right": [130, 68], "label": "a part of it"},
    }
    put(folder, "data/metadata/desktop/boxes/player/screen_1.json", boxes)
    put(folder, "data/data/desktop/player/screen_1.png", picture())
    entry = {
        "task": "data/tasks/desktop/player/task_1.txt",
        "image": "data/data/desktop/player/screen_1.png",
        "box": "data/metadata/desktop/boxes/player/screen_1.json",
    }
    put(folder, "test.json", {"7": entry})
    return folder


def own_demonstration(key: str = "one", steps: int = 2) -> dict[str, Any]:
    """A demonstration in our form: clicks on a button that moves to the right."""
    return {
        "id": key,
        "instruction": f"Press the button {key}",
        "labels": {"app": "buttons"},
        "steps": [
            {
                "image": "screen.png",
                "reference": {
                    "operation": "click",
                    "actions": [
                        {
                            "action": {"type": "CLICK", "x": 120 + 100 * number, "y": 110},
                            "boxes": [{"x": 100 + 100 * number, "y": 100, "width": 40, "height": 20}],
                        }
                    ],
                },
                "elements": [{"name": "Go", "box": {"x": 100 + 100 * number, "y": 100, "width": 40, "height": 20}}],
                "words": f"press number {number}",
            }
            for number in range(steps)
        ],
    }


def own(folder: Path, *keys: str) -> Path:
    """A set in our form."""
    lines = "\n".join(json.dumps(own_demonstration(key)) for key in keys or ("one", "two"))
    put(folder, "demonstrations.jsonl", lines)
    put(folder, "screen.png", picture())
    return folder


def zipped(folder: Path) -> bytes:
    """The folder as a zip."""
    target = io.BytesIO()
    with zipfile.ZipFile(target, "w") as files:
        for path in sorted(folder.rglob("*")):
            if path.is_file():
                files.write(path, path.relative_to(folder).as_posix())
    return target.getvalue()
