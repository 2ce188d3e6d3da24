"""Interprets UI Automation's properties of a control. Pure."""

from collections.abc import Mapping
from enum import IntEnum

from guest_server.windows.a11y_tree import ControlInfo

Value = str | int | float | bool | None


class Property(IntEnum):
    """Numbers of UIAutomationClient.h."""

    KIND = 30003
    NAME = 30005
    HAS_FOCUS = 30008
    FOCUSABLE = 30009
    ENABLED = 30010
    AUTOMATION_ID = 30011
    CLASS = 30012
    HIDDEN = 30022
    HAS_EXPAND = 30028
    HAS_INVOKE = 30031
    HAS_RANGE = 30033
    HAS_SELECTION_ITEM = 30036
    HAS_SELECTION = 30037
    HAS_TEXT = 30040
    HAS_TOGGLE = 30041
    HAS_VALUE = 30043
    HAS_WINDOW = 30044
    VALUE = 30045
    VALUE_READ_ONLY = 30046
    RANGE_VALUE = 30047
    RANGE_MINIMUM = 30049
    RANGE_MAXIMUM = 30050
    RANGE_STEP = 30052
    SELECTION_REQUIRED = 30061
    EXPANDED = 30070
    WINDOW_STATE = 30075
    SELECTED = 30079
    TOGGLED = 30086


PROPERTIES = tuple(Property)
"""All properties of a cache request."""

KINDS = (
    "Button", "Calendar", "CheckBox", "ComboBox", "Edit", "Hyperlink", "Image", "ListItem", "List", "Menu", "MenuBar",
    "MenuItem", "ProgressBar", "RadioButton", "ScrollBar", "Slider", "Spinner", "StatusBar", "Tab", "TabItem", "Text",
    "ToolBar", "ToolTip", "Tree", "TreeItem", "Custom", "Group", "Thumb", "DataGrid", "DataItem", "Document",
    "SplitButton", "Window", "Pane", "Header", "HeaderItem", "Table", "TitleBar", "Separator", "SemanticZoom", "AppBar",
)  # fmt: skip
"""Kinds of controls in the order of their numbers, from 50000 on."""
_FIRST_KIND = 50_000
_NORMAL, _MAXIMIZED, _MINIMIZED = 0, 1, 2
_COLLAPSED, _EXPANDED = 0, 1


def kind_of(number: Value) -> str:
    """The name of a control type, empty if it is unknown."""
    index = number - _FIRST_KIND if isinstance(number, int) else -1
    return KINDS[index] if 0 <= index < len(KINDS) else ""


def describe_control(
    values: Mapping[Property, Value], box: tuple[int, int, int, int], content: str = ""
) -> ControlInfo:
    """A control from its properties.

    Args:
        values: its properties; None for missing ones.
        box: left, top, width, height in screen pixels.
        content: the text of a document.
    """
    kind = kind_of(values.get(Property.KIND))
    value = str(values.get(Property.VALUE) or "") if values.get(Property.HAS_VALUE) else ""
    identity = str(values.get(Property.AUTOMATION_ID) or "")
    return ControlInfo(
        name=str(values.get(Property.NAME) or ""),
        tag=str(values.get(Property.CLASS) or "") or kind,
        kind=kind,
        text=content or value,
        box=box if box[2] > 0 and box[3] > 0 else None,
        states=_states(values),
        values=_values(values, value),
        identity={"automation_id": identity} if identity else {},
    )


def _states(values: Mapping[Property, Value]) -> dict[str, bool]:
    """Pywinauto's names of states; states that do not apply are left out."""
    focus = bool(values.get(Property.HAS_FOCUS))
    states = {
        "enabled": bool(values.get(Property.ENABLED)),
        "visible": not values.get(Property.HIDDEN),
        "focused": focus,
        "keyboard_focused": focus,
        "is_keyboard_focusable": bool(values.get(Property.FOCUSABLE)),
    }
    if values.get(Property.HAS_WINDOW):
        state = values.get(Property.WINDOW_STATE)
        names = {"normal": _NORMAL, "maximized": _MAXIMIZED, "minimized": _MINIMIZED}
        states |= {name: state == number for name, number in names.items()}
    if values.get(Property.HAS_EXPAND):
        state = values.get(Property.EXPANDED)
        states |= {"collapsed": state == _COLLAPSED, "expanded": state == _EXPANDED}
    if values.get(Property.HAS_TOGGLE):
        states |= {"checkable": True, "checked": values.get(Property.TOGGLED) == 1}
    if values.get(Property.HAS_SELECTION_ITEM):
        states["selected"] = bool(values.get(Property.SELECTED))
    if values.get(Property.HAS_SELECTION):
        states["selection_required"] = bool(values.get(Property.SELECTION_REQUIRED))
    if values.get(Property.HAS_INVOKE):
        states["pressable"] = True
    if values.get(Property.HAS_VALUE):
        states["editable"] = not values.get(Property.VALUE_READ_ONLY)
    return states


def _values(values: Mapping[Property, Value], text: str) -> dict[str, str]:
    if not values.get(Property.HAS_RANGE):
        return {"value": text} if text else {}
    places = {
        "value": Property.RANGE_VALUE,
        "min": Property.RANGE_MINIMUM,
        "max": Property.RANGE_MAXIMUM,
        "step": Property.RANGE_STEP,
    }
    return {name: str(values[index]) for name, index in places.items() if values.get(index) is not None}
