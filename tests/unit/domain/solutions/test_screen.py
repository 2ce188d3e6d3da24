"""Steps of solutions as people read them."""

from typing import Any

import pytest

from backend.domain.solutions.screen import describe
from backend.domain.solutions.steps import OracleStep


@pytest.mark.parametrize(
    ("step", "text"),
    [
        ({"wait": {"role": "table cell", "name": "main.py"}}, 'Wait for table cell "main.py"'),
        ({"hotkey": ["ctrl", "s"]}, "Press Ctrl+S"),
        ({"press": "f2"}, "Press F2"),
        ({"type": "milk"}, 'Type "milk"'),
        (
            {"wait": {"role": "text", "text": "a.txt", "states": ["focused", "!checked"]}},
            'Wait for text "a.txt" (focused, not checked)',
        ),
        (
            {"click": {"name_has": "Save", "window": "Editor", "index": -1}},
            'Click element containing "Save" in window "Editor", the last',
        ),
        ({"double_click": {"role": "icon", "app": "Thunar", "index": 1}}, "Double-click icon of Thunar, number 2"),
        ({"wait_window_gone": "Save As"}, 'Wait for the end of window "Save As"'),
        ({"drag": {"from": {"name": "a"}, "to": {"name": "b"}}}, 'Drag element "a" to element "b"'),
        ({"scroll": {"at": {"role": "list"}, "dy": -3}}, "Scroll down over list"),
        ({"fail": "no such file"}, 'Answer FAIL: "no such file"'),
    ],
)
def test_a_step_reads_as_an_instruction(step: dict[str, Any], text: str) -> None:
    assert describe(OracleStep.parse(step)) == text
