"""Facts from Windows for `health`: processes, registry, what covers the screen, memory."""

import contextlib
import ctypes
from collections.abc import Iterator, Sequence
from ctypes import wintypes
from typing import Any

from guest_server.protocol.errors import GuestError
from guest_server.windows.api import advapi32, failure, kernel32, user32
from guest_server.windows.handles import process_handle
from guest_server.windows.health import SnapshotProcess
from guest_server.windows.screen import GdiScreen

_ALL_PROCESSES = 0x2
_LONGEST_NAME = 260
_QUERY_LIMITED = 0x1000
_READ_OBJECTS, _NAME_OF = 0x0001, 2
_TOKEN_QUERY, _TOKEN_USER = 0x0008, 1
_INVALID = ctypes.c_void_p(-1).value
_ROOTS = {"HKLM": "HKEY_LOCAL_MACHINE", "HKCU": "HKEY_CURRENT_USER"}


class _Entry(ctypes.Structure):
    """PROCESSENTRY32W."""

    _fields_ = (
        ("size", wintypes.DWORD),
        ("usage", wintypes.DWORD),
        ("process", wintypes.DWORD),
        ("heap", ctypes.c_size_t),
        ("module", wintypes.DWORD),
        ("threads", wintypes.DWORD),
        ("parent", wintypes.DWORD),
        ("priority", wintypes.LONG),
        ("flags", wintypes.DWORD),
        ("name", ctypes.c_wchar * _LONGEST_NAME),
    )


class _Memory(ctypes.Structure):
    """MEMORYSTATUSEX."""

    _fields_ = (("length", wintypes.DWORD), ("load", wintypes.DWORD), ("bytes", ctypes.c_ulonglong * 7))


class _TokenUser(ctypes.Structure):
    """TOKEN_USER with room for the account that it points to."""

    _fields_ = (("sid", ctypes.c_void_p), ("attributes", wintypes.DWORD), ("room", ctypes.c_ubyte * 128))


class Sources:
    """See `health.WindowsSources`."""

    def __init__(self, screen: GdiScreen) -> None:
        self._screen = screen
        self._own = _account(int(kernel32.GetCurrentProcess()))

    def processes(self) -> Sequence[SnapshotProcess]:
        """From a snapshot; a process that ends meanwhile is left out."""
        return [row for entry in _entries() if (row := self._row(entry)) is not None]

    def _row(self, entry: _Entry) -> SnapshotProcess | None:
        number = int(entry.process)
        with process_handle(number, _QUERY_LIMITED) as process:
            if process is None:
                # Another user's, or gone: in both cases not the desktop user's.
                return SnapshotProcess(number, int(entry.parent), 0, str(entry.name), own=False)
            own = self._own is not None and _account(process) == self._own
            return SnapshotProcess(number, int(entry.parent), _born(process), str(entry.name), own=own)

    def input_desktop(self) -> str:
        """Name of the input desktop; one that may not be opened is Windows' log-on screen."""
        desktop = user32.OpenInputDesktop(0, False, _READ_OBJECTS)  # noqa: FBT003 - Windows' own order.
        if not desktop:
            return "Winlogon"
        try:
            buffer = ctypes.create_unicode_buffer(_LONGEST_NAME)
            size = ctypes.sizeof(buffer)
            if not user32.GetUserObjectInformationW(desktop, _NAME_OF, buffer, size, None):
                raise GuestError("failed", str(failure("the desktop that has the input")))
            return buffer.value
        finally:
            user32.CloseDesktop(desktop)

    def registry(self, key: str, name: str) -> object | None:
        """With Python's own module."""
        import winreg

        registry: Any = vars(winreg)
        root, _, path = key.partition("\\")
        try:
            with registry["OpenKey"](registry[_ROOTS[root]], path) as opened:
                return registry["QueryValueEx"](opened, name)[0] if name else True
        except FileNotFoundError:
            return None
        except OSError as error:
            raise GuestError("failed", f"the registry's key '{key}' cannot be read: {error}") from None

    def memory_free(self) -> int | None:
        return free_memory()

    def scale(self) -> float:
        """Of the primary display."""
        return self._screen.scale


def free_memory() -> int | None:
    """Bytes that programs can still allocate, None if unknown."""
    memory = _Memory(ctypes.sizeof(_Memory))
    succeeded = kernel32.GlobalMemoryStatusEx(ctypes.byref(memory))
    return int(memory.bytes[1]) if succeeded else None


def _entries() -> Iterator[_Entry]:
    snapshot = kernel32.CreateToolhelp32Snapshot(_ALL_PROCESSES, 0)
    if snapshot == _INVALID:
        raise GuestError("failed", str(failure("the list of processes")))
    try:
        entry = _Entry(size=ctypes.sizeof(_Entry))
        more = kernel32.Process32FirstW(snapshot, ctypes.byref(entry))
        while more:
            yield entry
            more = kernel32.Process32NextW(snapshot, ctypes.byref(entry))
    finally:
        kernel32.CloseHandle(snapshot)


def _born(process: int) -> int:
    """Creation time in units of 100 ns, 0 if unknown."""
    times = [wintypes.FILETIME() for _ in range(4)]
    if not kernel32.GetProcessTimes(process, *map(ctypes.byref, times)):
        return 0
    return int(times[0].dwHighDateTime) << 32 | int(times[0].dwLowDateTime)


def _account(process: int) -> bytes | None:
    """Security identifier of a process's user, None if unknown."""
    token = wintypes.HANDLE()
    if not advapi32.OpenProcessToken(process, _TOKEN_QUERY, ctypes.byref(token)):
        return None
    try:
        token_user, size = _TokenUser(), wintypes.DWORD()
        room = ctypes.sizeof(token_user)
        if not advapi32.GetTokenInformation(token, _TOKEN_USER, ctypes.byref(token_user), room, ctypes.byref(size)):
            return None
        return ctypes.string_at(token_user.sid, advapi32.GetLengthSid(token_user.sid))
    finally:
        with contextlib.suppress(OSError):
            kernel32.CloseHandle(token)
