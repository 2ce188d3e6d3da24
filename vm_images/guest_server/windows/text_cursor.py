"""The text at the cursor on Windows: selection and line. For helper processes only."""

from guest_server.windows import handles
from guest_server.windows.a11y_tree import ControlInfo, GoneError
from guest_server.windows.api import user32
from guest_server.windows.com import Com
from guest_server.windows.uia import Automation
from guest_server.windows.win32_controls import focused, is_editor

_GET_SELECTION, _TOO_LONG = 0x00B0, 0xFFFFFFFF
_LONGEST = 10_000
_NOTHING = {"selection": "", "line": "", "control": "", "role": ""}
_TERMINALS = frozenset({"consolewindowclass", "termcontrol", "cascadia_hosting_window_class", "termcontrol2"})
_MOST_LEVELS = 12


def around(text: str, start: int, end: int) -> tuple[str, str]:
    """The selection, and the line of the cursor, which is at the selection's end.

    Args:
        text: text with Windows' line ends.
        start: start of the selection, in UTF-16 units.
        end: end of the selection.
    """
    units = text.encode("utf-16-le", "surrogatepass")
    before, inside, after = (
        part.decode("utf-16-le", "replace")
        for part in (units[: 2 * start], units[2 * start : 2 * end], units[2 * end :])
    )
    line = (before + inside).rpartition("\n")[2] + after.partition("\n")[0]
    return inside.replace("\r\n", "\n"), line.rstrip("\r")


def text_cursor(automation: Automation | None) -> dict[str, str]:
    """For the focused control; all empty without one."""
    if automation is not None:
        try:
            node = automation.focused()
            control = automation.control_info(node)
            selection, line = automation.text_cursor(node)
        except GoneError:
            return dict(_NOTHING)
        if selection or line:
            return _to_payload(control.name, control.kind, selection, line)
    return _by_messages() or dict(_NOTHING)


def _by_messages() -> dict[str, str] | None:
    """Queried by messages, as older editors support; None for other controls."""
    window = focused()
    name = handles.class_name(window) if window else ""
    if not is_editor(name):
        return None
    packed, text = handles.send(window, _GET_SELECTION), handles.text(window, _LONGEST * 10)
    if packed in {None, _TOO_LONG} or text is None:
        return None
    return _to_payload("", name, *around(text, packed & 0xFFFF, packed >> 16 & 0xFFFF))


def _to_payload(control: str, role: str, selection: str, line: str) -> dict[str, str]:
    return {"selection": selection[:_LONGEST], "line": line[:_LONGEST], "control": control, "role": role}


def terminal_text(automation: Automation) -> str | None:
    """Text of the foreground terminal, None if there is none."""
    try:
        front = automation.of_window(user32.GetForegroundWindow() or 0)
    except GoneError:
        return None
    terminal = _terminal_in(automation, front, _MOST_LEVELS)
    return None if terminal is None else terminal.text.rstrip()


def _terminal_in(source: Automation, node: Com, levels: int) -> ControlInfo | None:
    try:
        control = source.control_info(node)
        if control.tag.lower() in _TERMINALS and control.text:
            return control
        for child in source.children(node) if levels else ():
            terminal = _terminal_in(source, child, levels - 1)
            if terminal is not None:
                return terminal
    except GoneError:
        return None
    return None
