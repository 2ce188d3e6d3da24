"""Drafts of tasks with sensible defaults, and what a person did on a desktop."""

from collections.abc import Sequence
from typing import Any
from xml.sax.saxutils import escape, quoteattr

from backend.domain.drafts.content import DraftContent
from backend.domain.drafts.recording import RecordingStep
from backend.domain.model.task import MetricCall, SetupStep
from backend.domain.model.trajectory import Action, Window

LIST = "/home/user/Documents/shopping.txt"


def make_content(**more: Any) -> DraftContent:
    """A draft that lacks nothing: an item is added to a shopping list."""
    defaults: dict[str, Any] = {
        "domain": "editor",
        "name": "add_milk",
        "instruction": 'Add the item "milk" as a new last line to shopping.txt, which is open, and save the file.',
        "requires": ("mousepad",),
        "setup": (
            SetupStep(type="create_file", parameters={"path": LIST, "content": "bread\n"}),
            SetupStep(type="launch", parameters={"command": ["mousepad", LIST]}),
            SetupStep(type="activate_window", parameters={"window_name": "shopping.txt"}),
        ),
        "checks": (
            MetricCall(
                func="exact_match",
                result={"type": "vm_command_line", "command": ["cat", LIST]},
                expected={"type": "rule", "rules": {"expected": "bread\nmilk\n"}},
            ),
        ),
        "oracle": ({"hotkey": ["ctrl", "end"]}, {"type": "milk\n"}, {"hotkey": ["ctrl", "s"]}),
    }
    return DraftContent(**{**defaults, **more})


def widget(role: str, name: str = "", text: str = "", *, at: Sequence[int] = (0, 0, 10, 10), inner: str = "") -> str:
    """One element of an accessibility tree that is shown; `at`: left, top, width, height."""
    left, top, width, height = at
    return (
        f'<{role} name={quoteattr(name)} st:showing="true" cp:screencoord="({left}, {top})" '
        f'cp:size="({width}, {height})">{escape(text)}{inner}</{role}>'
    )


def tree(*windows: str, app: str = "mousepad") -> str:
    """A tree of one application's windows."""
    return (
        '<desktop-frame xmlns:st="uri:deskat:state.at-spi.gnome.org" xmlns:cp="uri:deskat:component.at-spi.gnome.org">'
        f"<application name={quoteattr(app)}>{''.join(windows)}</application></desktop-frame>"
    )


def seen(xml: str, title: str, *actions: Action, others: Sequence[str] = ()) -> RecordingStep:
    """A moment of a recording with that window in front."""
    behind = [Window(title=other) for other in others]
    return RecordingStep(xml, [*behind, Window(title=title, active=True)], actions)


def proposal(**more: Any) -> dict[str, Any]:
    """A draft as a model writes it."""
    return {
        "domain": "library",
        "name": "overdue",
        "instruction": 'Write the title "Dune" into the file overdue.txt in the Documents folder.',
        "apps": ["text_editor"],
        "requires": ["mousepad"],
        "difficulty": "easy",
        "setup": [{"type": "launch", "parameters": {"command": ["mousepad"]}}],
        "checks": [
            {
                "func": "exact_match",
                "result": {"type": "vm_command_line", "command": ["cat", "/home/user/Documents/overdue.txt"]},
                "expected": {"type": "rule", "rules": {"expected": "Dune"}},
                "options": {},
            }
        ],
        **more,
    }
