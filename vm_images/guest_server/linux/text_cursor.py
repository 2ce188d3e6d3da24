"""Text at the text cursor of the active window, with AT-SPI. Runs in a helper process only."""

from typing import Any

from guest_server.linux.a11y_ask import Atspi, HungError, ask
from guest_server.linux.hit_test import Search, described
from guest_server.protocol.a11y_xml import clean

_LONGEST = 20_000


def text_cursor() -> dict[str, str]:
    """Selection of the focused control, and its line with the cursor; empty if there is none."""
    try:
        node = Search().focused(None)
        control = described(node, "")
        if node is None or "Text" not in (ask(node.get_interfaces) or ()):
            return {"selection": "", "line": "", "control": control.control, "role": control.role}
        return {"selection": _selection(node), "line": _line(node), "control": control.control, "role": control.role}
    except HungError:
        return {"selection": "", "line": "", "control": "", "role": ""}


def _selection(node: Any) -> str:
    parts = []
    for number in range(min(ask(Atspi.Text.get_n_selections, node) or 0, 16)):
        span = ask(Atspi.Text.get_selection, node, number)
        if span is not None:
            start, end = sorted((span.start_offset, span.end_offset))
            parts.append(ask(Atspi.Text.get_text, node, start, min(end, start + _LONGEST)) or "")
    return clean("\n".join(parts))[:_LONGEST]


def _line(node: Any) -> str:
    caret = ask(Atspi.Text.get_caret_offset, node)
    if caret is None or caret < 0:
        return ""
    start = max(0, caret - _LONGEST)
    before = (ask(Atspi.Text.get_text, node, start, caret) or "").rpartition("\n")[2]
    length = ask(Atspi.Text.get_character_count, node) or 0
    after = (ask(Atspi.Text.get_text, node, caret, min(length, caret + _LONGEST)) or "").partition("\n")[0]
    return clean(before + after)
