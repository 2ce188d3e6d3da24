"""Pools of subtasks and tasks over them, in OmniBench's form."""

from typing import Any

from backend.domain.omnibench.subtask import Subtask
from backend.domain.omnibench.task_file import Pool

LIST, PICTURE = "/home/user/list.txt", "/home/user/plan.png"


def subtask(name: str, **more: Any) -> Subtask:
    """A subtask of the text editor that is done when its name was typed."""
    values: dict[str, Any] = {
        "instruction_template": f"Do {name}.",
        "application": "mousepad",
        "OS": "linux",
        "evaluation": f"check_keyboard_types('{name}')",
    }
    return Subtask(id=name, **(values | more))


def small_pool() -> Pool:
    """Write a list, put it into an archive, draw a picture, show the picture."""
    subtasks = [
        subtask(
            "write",
            instruction_template="Write '{words}' into '{txt_path}'.",
            available_parameters=(
                {"words": "milk", "txt_path": LIST},
                {"words": "tea", "txt_path": "/home/user/b.txt"},
            ),
            output_resources=("txt_path",),
            evaluation="check_keyboard_types(words) and check_file_exists(txt_path)",
            setup=({"type": "create_folder", "parameters": {"path": "/home/user/Documents"}},),
            oracle=({"type": "{words}"}, {"hotkey": ["ctrl", "s"]}),
            requires=("mousepad",),
        ),
        subtask(
            "pack",
            instruction_template="Pack '{txt_path}' into an archive.",
            application="xarchiver",
            available_parameters=({"txt_path": LIST},),
            input_resources=("txt_path",),
            output_resources=("archive_path",),
            evaluation="check_file_exists('/home/user/list.zip') and not check_window_exists('Error')",
            setup=(
                {"type": "create_file", "parameters": {"path": "{txt_path}", "content": "x"}, "provides": ["txt_path"]},
                {"type": "create_folder", "parameters": {"path": "/home/user/Documents"}},
            ),
            oracle=({"press": "enter"},),
        ),
        subtask(
            "draw",
            application="drawing",
            available_parameters=({"img_path": PICTURE},),
            output_resources=("img_path",),
            oracle=({"click": {"name": "Pencil"}},),
        ),
        subtask("spell", available_parameters=({"txt_path": LIST},), input_resources=("txt_path",), oracle=()),
    ]
    return {subtask.id: subtask for subtask in subtasks}


def task_json(nodes: list[str], edges: dict[str, list[str]], **more: Any) -> dict[str, Any]:
    """A task file."""
    return {"task_instruction": "Do it all.", "dag": {"nodes": nodes, "edges": edges}, **more}


STAGES = ("note_path", "table_path", "chart_path", "slide_path", "page_path", "archive_path")
STAGE_APPS = ("mousepad", "calc", "gimp", "impress", "chromium", "thunar", "vlc", "galculator", "xterm", "planner")


def wide_pool(sets: int = 6) -> Pool:
    """Fifty subtasks of ten applications that make one thing of another, with `sets` sets of parameters each."""
    subtasks = []
    for number in range(50):
        stage, app = number % len(STAGES), STAGE_APPS[number % len(STAGE_APPS)]
        produced, needed = STAGES[stage], STAGES[stage - 1] if stage else ""
        values = tuple(
            {produced: f"/home/user/{produced}-{number}-{n}"}
            | ({needed: f"/home/user/{needed}-{number - 1}-{n}"} if needed else {})
            for n in range(sets)
        )
        subtasks.append(
            subtask(
                f"s{number}",
                instruction_template=(f"Make '{{{produced}}}'" + (f" of '{{{needed}}}'" if needed else "")),
                steps=(f"Open {app}.", f"Save as '{{{produced}}}'."),
                application=app,
                available_parameters=values,
                input_resources=(needed,) if needed else (),
                output_resources=(produced,),
                intents=("Report the year", "Show the work") if number % 2 else ("Report the year",),
            )
        )
    return {subtask.id: subtask for subtask in subtasks}
