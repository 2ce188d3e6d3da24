"""Controls of UI Automation. For helper processes only: a hanging program blocks its queries.

One cache request returns all properties of all children of a control. Positions of functions are those of
UIAutomationClient.h.
"""

import ctypes
from collections.abc import Sequence
from ctypes import wintypes
from enum import IntEnum
from typing import Any

from guest_server.windows.a11y_tree import ControlInfo, GoneError
from guest_server.windows.api import Guid
from guest_server.windows.com import Argument, Com, ComError, create, join_com
from guest_server.windows.uia_properties import PROPERTIES, Property, describe_control

AUTOMATION = "ff48dba4-60ef-4201-aa87-54103eef594e"
AUTOMATION_8 = "e22ad333-b25f-460c-83d0-0581107395c9"
_IUIAUTOMATION = "30cbe57d-d9d0-452a-ab13-7ac5ac4825ee"
IUIAUTOMATION_2 = "34723aff-0c9d-49d0-9896-7ab52df8cd8a"
_CHILDREN, _ELEMENT = 2, 1
_TEXT_PATTERN, _IUIAUTOMATION_TEXT_PATTERN = 10014, "32eba289-3583-42c9-9c59-3b6d9a1e9b6a"
_BOUNDING_RECTANGLE = 30001
"""Read by its own function, not as a value; properties outside the cache request raise an error."""
_LONGEST_TEXT = 100_000
_ANSWER_MILLISECONDS = 3000


class _Automation(IntEnum):
    ROOT_CACHED, FROM_POINT_CACHED, FOCUSED_CACHED = 9, 11, 12
    FROM_HANDLE_CACHED, CACHE_REQUEST, TRUE = 10, 20, 21
    PUT_CONNECTION_TIMEOUT, PUT_TRANSACTION_TIMEOUT = 61, 63


class _Element(IntEnum):
    FIND_ALL_CACHED, CACHED_VALUE, PATTERN_AS, CACHED_BOX = 8, 12, 14, 75


class _Request(IntEnum):
    ADD_PROPERTY, PUT_SCOPE = 3, 7


class _List(IntEnum):
    LENGTH, GET = 3, 4


class _TextPattern(IntEnum):
    SELECTION, DOCUMENT = 5, 7


class _Range(IntEnum):
    CLONE, EXPAND, TEXT = 3, 6, 12


class Automation:
    """A connection to UI Automation, used in the thread that created it."""

    def __init__(self) -> None:
        """Connects.

        Raises:
            ComError: this system has no UI Automation.
        """
        join_com()
        try:
            self._automation = create(AUTOMATION_8, IUIAUTOMATION_2)
            for slot in (_Automation.PUT_CONNECTION_TIMEOUT, _Automation.PUT_TRANSACTION_TIMEOUT):
                self._automation.call(slot, (wintypes.DWORD, _ANSWER_MILLISECONDS))
        except ComError:  # Before Windows 8.
            self._automation = create(AUTOMATION, _IUIAUTOMATION)
        self._everything = _there(self._automation.object(_Automation.TRUE))
        self._request = _there(self._automation.object(_Automation.CACHE_REQUEST))
        for number in (*PROPERTIES, _BOUNDING_RECTANGLE):
            self._request.call(_Request.ADD_PROPERTY, (ctypes.c_int, int(number)))
        self._request.call(_Request.PUT_SCOPE, (ctypes.c_int, _ELEMENT))

    def windows(self) -> Sequence[Com]:
        """Visible windows, topmost first."""
        return self.children(self._query_object(_Automation.ROOT_CACHED))

    def children(self, node: Com) -> Sequence[Com]:
        """All of them with their properties."""
        try:
            elements = node.object(
                _Element.FIND_ALL_CACHED, (ctypes.c_int, _CHILDREN), _pointer(self._everything), _pointer(self._request)
            )
            return [] if elements is None else _items(elements)
        except ComError as error:
            raise GoneError(str(error)) from None

    def control_info(self, node: Com) -> ControlInfo:
        """The cached properties; the text of a document is queried separately."""
        try:
            values = {number: node.value(_Element.CACHED_VALUE, int(number)) for number in PROPERTIES}
            box = node.box(_Element.CACHED_BOX)
        except ComError as error:
            raise GoneError(str(error)) from None
        control = describe_control(values, box)
        if not control.text and values.get(Property.HAS_TEXT) and control.states.get("visible"):
            return describe_control(values, box, self._content(node))
        return control

    def at(self, x: int, y: int) -> Com:
        """The control at a point. Raises GoneError."""
        return self._query_object(_Automation.FROM_POINT_CACHED, (wintypes.POINT, wintypes.POINT(x, y)))

    def focused(self) -> Com:
        """The control with the focus. Raises GoneError."""
        return self._query_object(_Automation.FOCUSED_CACHED)

    def of_window(self, window: int) -> Com:
        """A window's own control. Raises GoneError."""
        return self._query_object(_Automation.FROM_HANDLE_CACHED, (ctypes.c_void_p, window))

    def _query_object(self, slot: int, *arguments: Argument) -> Com:
        try:
            return _there(self._automation.object(slot, *arguments, _pointer(self._request)))
        except ComError as error:
            raise GoneError(str(error)) from None

    def _content(self, node: Com) -> str:
        try:
            pattern = _text_pattern(node)
            document = None if pattern is None else pattern.object(_TextPattern.DOCUMENT)
            return "" if document is None else _range_text(document)
        except ComError:
            return ""

    def text_cursor(self, node: Com, line_unit: int = 3) -> tuple[str, str]:
        """Selection of a control, and its line with the text cursor; both empty without text."""
        try:
            pattern = _text_pattern(node)
            selection = None if pattern is None else pattern.object(_TextPattern.SELECTION)
            ranges = [] if selection is None else _items(selection)
            if not ranges:
                return "", ""
            line = _there(ranges[-1].object(_Range.CLONE))
            line.call(_Range.EXPAND, (ctypes.c_int, line_unit))
            return "\n".join(_range_text(text_range) for text_range in ranges), _range_text(line).rstrip("\r\n")
        except (ComError, GoneError):
            return "", ""


def _text_pattern(node: Com) -> Com | None:
    interface = Guid.parse(_IUIAUTOMATION_TEXT_PATTERN)
    argument = (ctypes.c_void_p, ctypes.addressof(interface))
    return node.object(_Element.PATTERN_AS, (ctypes.c_int, _TEXT_PATTERN), argument)


def _range_text(part: Com) -> str:
    return part.text(_Range.TEXT, (ctypes.c_int, _LONGEST_TEXT)).replace("\r\n", "\n").replace("\r", "\n")


def _items(elements: Com) -> list[Com]:
    count = elements.integer(_List.LENGTH)
    items = (elements.object(_List.GET, (ctypes.c_int, number)) for number in range(count))
    return [item for item in items if item is not None]


def _there(value: Com | None) -> Com:
    if value is None:
        raise GoneError("it has gone")
    return value


def _pointer(of: Com) -> tuple[Any, int]:
    return ctypes.c_void_p, of.pointer
