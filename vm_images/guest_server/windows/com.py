"""Calls COM objects by position in the interface's function table."""

import ctypes
from ctypes import wintypes
from typing import Any

from guest_server.windows.api import Guid, callback, ole32, oleaut32

_IN_PROCESS = 0x1
_I4, _R8, _BSTR, _BOOL = 3, 5, 8, 11

Argument = tuple[Any, Any]
"""A ctypes type and a value."""


class ComError(Exception):
    """A call failed; `code` is its HRESULT, as in Windows' documentation."""

    def __init__(self, function: str, code: int) -> None:
        super().__init__(f"{function} failed with {code & 0xFFFFFFFF:#010x}")
        self.code = code & 0xFFFFFFFF


class Com:
    """A reference to a COM object; released with the last Python reference."""

    def __init__(self, pointer: int) -> None:
        self.pointer = pointer
        self._table = ctypes.cast(pointer, ctypes.POINTER(ctypes.POINTER(ctypes.c_void_p)))[0]

    def __del__(self) -> None:
        """Releases it: the third function of every interface."""
        callback(wintypes.ULONG, ctypes.c_void_p)(self._table[2])(self.pointer)

    def call(self, index: int, *arguments: Argument) -> None:
        """Calls the function at a position of the table.

        Raises:
            ComError: it failed.
        """
        types = [kind for kind, _ in arguments]
        function = callback(ctypes.c_long, ctypes.c_void_p, *types)(self._table[index])
        code = function(self.pointer, *(value for _, value in arguments))
        if code < 0:
            raise ComError(f"function {index}", code)

    def object(self, index: int, *arguments: Argument) -> "Com | None":
        """Calls a function that returns an object in its last argument; may be None."""
        pointer = ctypes.c_void_p()
        self.call(index, *arguments, _out(pointer))
        return None if pointer.value is None else Com(pointer.value)

    def integer(self, index: int) -> int:
        """Calls a function that returns a number."""
        number = ctypes.c_int()
        self.call(index, _out(number))
        return int(number.value)

    def text(self, index: int, *arguments: Argument) -> str:
        """Calls a function that returns a text."""
        string = ctypes.c_void_p()
        self.call(index, *arguments, _out(string))
        if string.value is None:
            return ""
        try:
            return ctypes.wstring_at(string.value, oleaut32.SysStringLen(string))
        finally:
            oleaut32.SysFreeString(string)

    def box(self, index: int) -> tuple[int, int, int, int]:
        """Calls a function that returns a rectangle: left, top, width, height."""
        rect = wintypes.RECT()
        self.call(index, _out(rect))
        return int(rect.left), int(rect.top), int(rect.right - rect.left), int(rect.bottom - rect.top)

    def value(self, index: int, number: int) -> "str | int | float | bool | None":
        """Calls a function that returns a property's value; None if it has none of a supported type."""
        variant = _Variant()
        self.call(index, (ctypes.c_int, number), _out(variant))
        try:
            return variant.plain()
        finally:
            oleaut32.VariantClear(ctypes.byref(variant))


class _Data(ctypes.Union):
    _fields_ = (
        ("integer", ctypes.c_int),
        ("real", ctypes.c_double),
        ("truth", ctypes.c_short),
        ("pointer", ctypes.c_void_p),
        ("room", ctypes.c_void_p * 2),
    )


class _Variant(ctypes.Structure):
    """VARIANT."""

    _fields_ = (("kind", wintypes.WORD), ("reserved", wintypes.WORD * 3), ("data", _Data))

    def plain(self) -> "str | int | float | bool | None":
        """Texts, numbers and booleans; None for everything else."""
        if self.kind == _BSTR:
            pointer = self.data.pointer
            return (
                "" if pointer is None else ctypes.wstring_at(pointer, oleaut32.SysStringLen(ctypes.c_void_p(pointer)))
            )
        if self.kind == _BOOL:
            return bool(self.data.truth)
        if self.kind == _I4:
            return int(self.data.integer)
        return float(self.data.real) if self.kind == _R8 else None


def _out(target: Any) -> Argument:
    return ctypes.c_void_p, ctypes.addressof(target)


def join_com() -> None:
    """Initialises COM in this thread, multi-threaded."""
    ole32.CoInitializeEx(None, 0)


def create(identity: str, interface: str) -> Com:
    """Creates an object of a registered class.

    Raises:
        ComError: the class is not registered.
    """
    kind, interface_id, pointer = Guid.parse(identity), Guid.parse(interface), ctypes.c_void_p()
    code = ole32.CoCreateInstance(
        ctypes.byref(kind), None, _IN_PROCESS, ctypes.byref(interface_id), ctypes.byref(pointer)
    )
    if code < 0 or pointer.value is None:
        raise ComError(f"the class {identity}", code)
    return Com(pointer.value)
