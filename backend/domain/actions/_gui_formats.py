"""The formats in which native GUI models write actions: one table.

Each is written from the public description of the model; the words of the instructions are ours. Sources:

- UI-TARS: `README_v1.md`, `codes/ui_tars/` and `README_coordinates.md` of bytedance/UI-TARS; calls as tags:
  `mm_agents/seed_agent.py` of xlang-ai/OSWorld.
- OS-Atlas: `README.md` and `eval/` of OS-Copilot/OS-Atlas.
- Aguvis: `src/aguvis/constants.py` of xlang-ai/aguvis.
- ShowUI: `QUICK_START.md` of showlab/ShowUI.
- UGround: model card of osunlp/UGround-V1.
- Qwen-VL: `cookbooks/utils/agent_function_call.py` of QwenLM/Qwen3-VL, which holds for Qwen2.5-VL, too.
"""

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from types import MappingProxyType
from typing import Literal

from backend.domain.actions._gui_calls import (
    GuiCall,
    action_lines,
    dictionaries,
    function_calls,
    python_calls,
    tool_calls,
)
from backend.domain.model.gui_formats import GuiFormat

Range = Literal["unit", "thousand", "resized"]


@dataclass(frozen=True)
class ModelFormat:
    """How one family of models writes.

    Attributes:
        coordinates: what they run over.
        read: its calls, from the text of a reply.
        verbs: names of `_gui_verbs.VERBS` by its own names, in lower case.
        example: a call, for hints.
        frame: how a reply is built around the calls.
        lines: the calls, for the prompt.
        place: an answer to the question where an element is, for the prompt.
    """

    coordinates: Range
    read: Callable[[str, Mapping[str, str], str], Sequence[GuiCall]]
    verbs: Mapping[str, str]
    example: str
    frame: str
    lines: Sequence[str]
    place: str


def _verbs(text: str) -> Mapping[str, str]:
    """Meanings by name: `left_click: click left_single; type: type` has two names that mean a left click."""
    pairs = (part.split(":") for part in text.split(";"))
    return MappingProxyType({name: meaning.strip() for meaning, names in pairs for name in names.split()})


_TARS_VERBS = _verbs(
    "click_at: click; left_click_at: left_click left_single; double_click_at: left_double double_click; "
    "right_click_at: right_single right_click; middle_click: middle_click; triple_click: triple_click; "
    "move: hover move move_to mouse_move; mouse_down: mouse_down; mouse_up: mouse_up; "
    "drag: drag select left_click_drag; hotkey: hotkey; key_down: press keydown; key_up: release keyup; "
    "type: type; scroll: scroll; wait: wait; done: finished done; fail: call_user infeasible fail"
)
_TARS_FRAME = """Answer in two parts:
Thought: what you see, and what comes next
Action: one call, or several, each on a line of its own"""


def _tars_lines(at: str, first: str, second: str) -> Sequence[str]:
    return (
        f"click({first}='{at}'), left_double(...), right_single(...), hover(...) likewise",
        f"drag({first}='{at}', {second}='{at}')",
        "hotkey(key='ctrl c'): keys in lower case, separated by spaces",
        "type(content='text\\n'): \\n at the end presses Enter",
        f"scroll({first}='{at}', direction='down'): or up, left, right",
        "wait()",
        "finished(content='what was done'): the task is done",
        "call_user(): the task cannot be done",
    )


def _tars(coordinates: Range, at: str, first: str, second: str) -> ModelFormat:
    example = f"Action: click({first}='{at}')"
    return ModelFormat(
        coordinates, function_calls, _TARS_VERBS, example, _TARS_FRAME, _tars_lines(at, first, second), example
    )


_QWEN_VERBS = _verbs(
    "hotkey: key; type: type; move: mouse_move; left_click: left_click; click: click; drag_to: left_click_drag; "
    "right_click: right_click; middle_click: middle_click; double_click: double_click; triple_click: triple_click; "
    "scroll_pixels: scroll; hscroll_pixels: hscroll; wait: wait screenshot; terminate: terminate; answer: answer"
)
_QWEN_EXAMPLE = (
    '<tool_call>{"name": "computer_use", "arguments": {"action": "left_click", "coordinate": [300, 200]}}</tool_call>'
)


def _qwen(coordinates: Range) -> ModelFormat:
    return ModelFormat(
        coordinates,
        lambda text, _, example: tool_calls(text, example),
        _QWEN_VERBS,
        _QWEN_EXAMPLE,
        f"Think in a few words, then call the tool computer_use, one or several times, each as\n{_QWEN_EXAMPLE}",
        (
            "left_click, right_click, middle_click, double_click, triple_click, mouse_move, with coordinate [x, y]",
            "left_click_drag with coordinate: from where the pointer is to there",
            'key with keys, such as ["ctrl", "c"]; type with text',
            "scroll and hscroll with pixels: positive is up, or to the right; coordinate may say where",
            "wait with time, in seconds",
            "answer with text, where the task asks something",
            'terminate with status "success" when the task is done, "failure" when it cannot be done',
        ),
        _QWEN_EXAMPLE,
    )


FORMATS: Mapping[GuiFormat, ModelFormat] = MappingProxyType(
    {
        "ui_tars": _tars("thousand", "<|box_start|>(300,200)<|box_end|>", "start_box", "end_box"),
        "ui_tars_1_5": _tars("resized", "(300,200)", "start_box", "end_box"),
        "ui_tars_2": _tars("thousand", "<point>300 200</point>", "point", "end_point"),
        "os_atlas": ModelFormat(
            "thousand",
            action_lines,
            _verbs(
                "click_at: click; double_click_at: doubleclick double_click; right_click_at: rightclick right_click; "
                "move: moveto move_to; drag_path: drag; type: type; scroll: scroll; hotkey: hotkey press; "
                "enter: enter; wait: wait; done: complete done; fail: impossible infeasible fail"
            ),
            "CLICK <point>[[300, 200]]</point>",
            "Answer in two parts:\nthoughts:\nwhat you see, and what comes next\nactions:\none action",
            (
                "CLICK <point>[[300, 200]]</point>; DOUBLE_CLICK, RIGHT_CLICK, MOVE_TO likewise",
                "DRAG <point>[[300, 200]]</point> <point>[[500, 200]]</point>",
                "TYPE [text]",
                "SCROLL [DOWN]: or UP, LEFT, RIGHT",
                "HOTKEY [ctrl+c]; ENTER",
                "WAIT",
                "COMPLETE: the task is done",
                "IMPOSSIBLE: the task cannot be done",
            ),
            "<|box_start|>(290,190),(310,210)<|box_end|>",
        ),
        "aguvis": ModelFormat(
            "unit",
            python_calls,
            _verbs(
                "click: click; double_click: doubleclick; triple_click: tripleclick triple_click; "
                "right_click: rightclick; middle_click: middleclick; move: moveto; drag_to: dragto; "
                "type: write typewrite; press: press; hotkey: hotkey; key_down: keydown; key_up: keyup; "
                "scroll_pages: scroll vscroll; hscroll_pages: hscroll; answer: answer; terminate: terminate; "
                "wait: mobile.wait sleep time.sleep wait"
            ),
            "pyautogui.click(x=0.3, y=0.2)",
            "First say what you see and what comes next. Then write the action as one line of code, or several.",
            (
                "pyautogui.click(x=0.3, y=0.2), doubleClick, rightClick, moveTo, dragTo likewise",
                "pyautogui.write(message='text'), pyautogui.press('enter'), pyautogui.hotkey(keys=['ctrl', 'c'])",
                "pyautogui.scroll(page=-0.5), pyautogui.hscroll(page=0.5): pages, positive is up, or to the right",
                "mobile.wait(seconds=3)",
                "terminate(status='success') when the task is done, terminate(status='failure') when it cannot be done",
            ),
            "pyautogui.click(x=0.3, y=0.2)",
        ),
        "showui": ModelFormat(
            "unit",
            lambda text, _, example: dictionaries(text, example),
            _verbs(
                "click_at: click tap; double_click_at: double_click; right_click_at: right_click; move: hover; "
                "type: input type; enter: enter; scroll: scroll; drag_path: select_text swipe drag; copy: copy; "
                "hotkey: hotkey; wait: wait; done: answer done; fail: impossible fail"
            ),
            "{'action': 'CLICK', 'value': None, 'position': [0.3, 0.2]}",
            "Answer with a dictionary and nothing else; value or position is None where there is none:\n"
            "{'action': 'CLICK', 'value': None, 'position': [0.3, 0.2]}",
            (
                "CLICK, DOUBLE_CLICK, RIGHT_CLICK, HOVER: position [x, y]",
                "INPUT: value is the text, position [x, y] of the element to type into, or None",
                "SELECT_TEXT: position [[x1, y1], [x2, y2]], from where to where",
                "SCROLL: value is up, down, left or right",
                "ENTER, COPY; HOTKEY: value such as 'ctrl+s'",
                "WAIT",
                "ANSWER: the task is done; value is what was done",
                "IMPOSSIBLE: the task cannot be done",
            ),
            "[0.3, 0.2]",
        ),
        "uground": ModelFormat(
            "thousand",
            function_calls,
            _verbs("click_at: click"),
            "(300, 200)",
            "Answer with the place to click and nothing else: (300, 200).",
            ("(300, 200)",),
            "(300, 200)",
        ),
        "qwen2_5_vl": _qwen("resized"),
        "qwen3_vl": _qwen("thousand"),
    }
)
