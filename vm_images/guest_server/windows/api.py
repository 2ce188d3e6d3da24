"""Typed declarations of the Windows library functions that this package calls.

ctypes truncates undeclared handles and pointers to 32 bits, so every function is declared here. Libraries are loaded on
first use: the module can be imported anywhere.
"""

import ctypes
from collections.abc import Mapping
from ctypes import wintypes
from functools import cache
from typing import Any

Signature = tuple[Any, tuple[Any, ...]]
"""Result and argument types of a function."""

_BOOL, _INT, _UINT, _DWORD = wintypes.BOOL, ctypes.c_int, wintypes.UINT, wintypes.DWORD
_HANDLE, _HWND, _HDC = wintypes.HANDLE, wintypes.HWND, wintypes.HDC
_TEXT, _POINTER, _SIZE = wintypes.LPCWSTR, ctypes.c_void_p, ctypes.c_size_t
_LRESULT = ctypes.c_ssize_t


def callback(result: Any, *takes: Any) -> Any:
    """The type of a function that Windows calls, or is called by address: 64-bit Windows has one calling convention."""
    return ctypes.CFUNCTYPE(result, *takes)


def last_error() -> int:
    """Error code of the last failure in this thread."""
    return int(vars(ctypes)["get_last_error"]())


def failure(function: str) -> OSError:
    """The last failure as Windows' message."""
    error: OSError = vars(ctypes)["WinError"](last_error())
    error.strerror = f"{function}: {error.strerror}"
    return error


class Library:
    """A system library; its functions are its attributes."""

    def __init__(self, name: str, functions: Mapping[str, Signature]) -> None:
        self._name = name
        self._functions = functions
        self._loaded: Any = None

    def __getattr__(self, name: str) -> Any:
        """Loads the library once, and declares each function once."""
        if name not in self._functions:
            raise AttributeError(f"{self._name}.{name} is not declared")
        if self._loaded is None:
            self._loaded = vars(ctypes)["WinDLL"](self._name, use_last_error=True)
        function = getattr(self._loaded, name)
        function.restype, function.argtypes = self._functions[name]
        setattr(self, name, function)
        return function


user32 = Library(
    "user32",
    {
        "AttachThreadInput": (_BOOL, (_DWORD, _DWORD, _BOOL)),
        "BringWindowToTop": (_BOOL, (_HWND,)),
        "CallNextHookEx": (_LRESULT, (_HANDLE, _INT, wintypes.WPARAM, wintypes.LPARAM)),
        "ChangeDisplaySettingsExW": (ctypes.c_long, (_TEXT, _POINTER, _HWND, _DWORD, _POINTER)),
        "CloseDesktop": (_BOOL, (_HANDLE,)),
        "CloseClipboard": (_BOOL, ()),
        "CreateWindowExW": (
            _HWND,
            (_DWORD, _TEXT, _TEXT, _DWORD, _INT, _INT, _INT, _INT, _HWND, _HANDLE, _HANDLE, _POINTER),
        ),
        "DestroyWindow": (_BOOL, (_HWND,)),
        "DrawIconEx": (_BOOL, (_HDC, _INT, _INT, _HANDLE, _INT, _INT, _UINT, _HANDLE, _UINT)),
        "EmptyClipboard": (_BOOL, ()),
        "EnumChildWindows": (_BOOL, (_HWND, _POINTER, wintypes.LPARAM)),
        "EnumWindows": (_BOOL, (_POINTER, wintypes.LPARAM)),
        "GetAncestor": (_HWND, (_HWND, _UINT)),
        "GetAsyncKeyState": (ctypes.c_short, (_INT,)),
        "GetClassNameW": (_INT, (_HWND, wintypes.LPWSTR, _INT)),
        "GetClipboardData": (_HANDLE, (_UINT,)),
        "GetCursorInfo": (_BOOL, (_POINTER,)),
        "GetCursorPos": (_BOOL, (_POINTER,)),
        "GetDC": (_HDC, (_HWND,)),
        "GetForegroundWindow": (_HWND, ()),
        "GetGUIThreadInfo": (_BOOL, (_DWORD, _POINTER)),
        "GetIconInfo": (_BOOL, (_HANDLE, _POINTER)),
        "GetKeyState": (ctypes.c_short, (_INT,)),
        "GetKeyboardLayout": (_HANDLE, (_DWORD,)),
        "GetMessageW": (_INT, (_POINTER, _HWND, _UINT, _UINT)),
        "GetShellWindow": (_HWND, ()),
        "GetSystemMetrics": (_INT, (_INT,)),
        "GetUserObjectInformationW": (_BOOL, (_HANDLE, _INT, _POINTER, _DWORD, _POINTER)),
        "GetWindow": (_HWND, (_HWND, _UINT)),
        "GetWindowLongW": (ctypes.c_long, (_HWND, _INT)),
        "GetWindowPlacement": (_BOOL, (_HWND, _POINTER)),
        "GetWindowRect": (_BOOL, (_HWND, _POINTER)),
        "GetWindowTextLengthW": (_INT, (_HWND,)),
        "GetWindowTextW": (_INT, (_HWND, wintypes.LPWSTR, _INT)),
        "GetWindowThreadProcessId": (_DWORD, (_HWND, _POINTER)),
        "IsClipboardFormatAvailable": (_BOOL, (_UINT,)),
        "IsIconic": (_BOOL, (_HWND,)),
        "IsWindow": (_BOOL, (_HWND,)),
        "IsWindowEnabled": (_BOOL, (_HWND,)),
        "IsWindowUnicode": (_BOOL, (_HWND,)),
        "IsWindowVisible": (_BOOL, (_HWND,)),
        "IsZoomed": (_BOOL, (_HWND,)),
        "LoadCursorW": (_HANDLE, (_HANDLE, _POINTER)),
        "MapVirtualKeyExW": (_UINT, (_UINT, _UINT, _HANDLE)),
        "OpenInputDesktop": (_HANDLE, (_DWORD, _BOOL, _DWORD)),
        "OpenClipboard": (_BOOL, (_HWND,)),
        "PostMessageW": (_BOOL, (_HWND, _UINT, wintypes.WPARAM, wintypes.LPARAM)),
        "ReleaseDC": (_INT, (_HWND, _HDC)),
        "SendInput": (_UINT, (_UINT, _POINTER, _INT)),
        "SendMessageTimeoutW": (
            _LRESULT,
            (_HWND, _UINT, wintypes.WPARAM, wintypes.LPARAM, _UINT, _UINT, _POINTER),
        ),
        "SetClipboardData": (_HANDLE, (_UINT, _HANDLE)),
        "SetCursorPos": (_BOOL, (_INT, _INT)),
        "SetForegroundWindow": (_BOOL, (_HWND,)),
        "SetProcessDPIAware": (_BOOL, ()),
        "SetProcessDpiAwarenessContext": (_BOOL, (_HANDLE,)),
        "SetWindowPos": (_BOOL, (_HWND, _HWND, _INT, _INT, _INT, _INT, _UINT)),
        "SetWindowsHookExW": (_HANDLE, (_INT, _POINTER, _HANDLE, _DWORD)),
        "ShowWindow": (_BOOL, (_HWND, _INT)),
        "ShowWindowAsync": (_BOOL, (_HWND, _INT)),
        "SystemParametersInfoW": (_BOOL, (_UINT, _UINT, _POINTER, _UINT)),
        "ToUnicodeEx": (_INT, (_UINT, _UINT, _POINTER, wintypes.LPWSTR, _INT, _UINT, _HANDLE)),
        "WindowFromPoint": (_HWND, (wintypes.POINT,)),
        "VkKeyScanExW": (ctypes.c_short, (ctypes.c_wchar, _HANDLE)),
    },
)
gdi32 = Library(
    "gdi32",
    {
        "BitBlt": (_BOOL, (_HDC, _INT, _INT, _INT, _INT, _HDC, _INT, _INT, _DWORD)),
        "CreateCompatibleDC": (_HDC, (_HDC,)),
        "CreateDIBSection": (_HANDLE, (_HDC, _POINTER, _UINT, _POINTER, _HANDLE, _DWORD)),
        "DeleteDC": (_BOOL, (_HDC,)),
        "DeleteObject": (_BOOL, (_HANDLE,)),
        "GdiFlush": (_BOOL, ()),
        "GetDeviceCaps": (_INT, (_HDC, _INT)),
        "SelectObject": (_HANDLE, (_HDC, _HANDLE)),
    },
)
kernel32 = Library(
    "kernel32",
    {
        "AssignProcessToJobObject": (_BOOL, (_HANDLE, _HANDLE)),
        "CloseHandle": (_BOOL, (_HANDLE,)),
        "CreateJobObjectW": (_HANDLE, (_POINTER, _TEXT)),
        "CreateToolhelp32Snapshot": (_HANDLE, (_DWORD, _DWORD)),
        "GetExitCodeProcess": (_BOOL, (_HANDLE, _POINTER)),
        "GetCurrentProcess": (_HANDLE, ()),
        "GetCurrentThreadId": (_DWORD, ()),
        "GetProcessTimes": (_BOOL, (_HANDLE, _POINTER, _POINTER, _POINTER, _POINTER)),
        "GlobalAlloc": (_HANDLE, (_UINT, _SIZE)),
        "GlobalFree": (_HANDLE, (_HANDLE,)),
        "GlobalLock": (_POINTER, (_HANDLE,)),
        "GlobalMemoryStatusEx": (_BOOL, (_POINTER,)),
        "GlobalSize": (_SIZE, (_HANDLE,)),
        "GlobalUnlock": (_BOOL, (_HANDLE,)),
        "OpenProcess": (_HANDLE, (_DWORD, _BOOL, _DWORD)),
        "QueryInformationJobObject": (_BOOL, (_HANDLE, _INT, _POINTER, _DWORD, _POINTER)),
        "Process32FirstW": (_BOOL, (_HANDLE, _POINTER)),
        "Process32NextW": (_BOOL, (_HANDLE, _POINTER)),
        "QueryFullProcessImageNameW": (_BOOL, (_HANDLE, _DWORD, wintypes.LPWSTR, _POINTER)),
        "SetSystemTime": (_BOOL, (_POINTER,)),
        "TerminateJobObject": (_BOOL, (_HANDLE, _UINT)),
        "TerminateProcess": (_BOOL, (_HANDLE, _UINT)),
        "WaitForSingleObject": (_DWORD, (_HANDLE, _DWORD)),
    },
)
dwmapi = Library("dwmapi", {"DwmGetWindowAttribute": (ctypes.c_long, (_HWND, _DWORD, _POINTER, _DWORD))})
ntdll = Library("ntdll", {"NtResumeProcess": (ctypes.c_long, (_HANDLE,))})
advapi32 = Library(
    "advapi32",
    {
        "AdjustTokenPrivileges": (_BOOL, (_HANDLE, _BOOL, _POINTER, _DWORD, _POINTER, _POINTER)),
        "GetEffectiveRightsFromAclW": (_DWORD, (_POINTER, _POINTER, _POINTER)),
        "GetLengthSid": (_DWORD, (_POINTER,)),
        "GetTokenInformation": (_BOOL, (_HANDLE, _INT, _POINTER, _DWORD, _POINTER)),
        "GetNamedSecurityInfoW": (
            _DWORD,
            (_TEXT, _INT, _DWORD, _POINTER, _POINTER, _POINTER, _POINTER, _POINTER),
        ),
        "LookupAccountNameW": (_BOOL, (_TEXT, _TEXT, _POINTER, _POINTER, wintypes.LPWSTR, _POINTER, _POINTER)),
        "LookupPrivilegeValueW": (_BOOL, (_TEXT, _TEXT, _POINTER)),
        "OpenProcessToken": (_BOOL, (_HANDLE, _DWORD, _POINTER)),
    },
)
bcrypt = Library("bcrypt", {"BCryptGenRandom": (ctypes.c_long, (_HANDLE, _POINTER, wintypes.ULONG, wintypes.ULONG))})
shell32 = Library(
    "shell32",
    {
        "SHFileOperationW": (_INT, (_POINTER,)),
        "SHGetKnownFolderPath": (ctypes.c_long, (_POINTER, _DWORD, _HANDLE, _POINTER)),
        "ShellExecuteExW": (_BOOL, (_POINTER,)),
    },
)
ole32 = Library(
    "ole32",
    {
        "CoCreateInstance": (ctypes.c_long, (_POINTER, _POINTER, _DWORD, _POINTER, _POINTER)),
        "CoInitializeEx": (ctypes.c_long, (_POINTER, _DWORD)),
        "CoTaskMemFree": (None, (_POINTER,)),
    },
)
oleaut32 = Library(
    "oleaut32",
    {
        "SysFreeString": (None, (_POINTER,)),
        "SysStringLen": (_UINT, (_POINTER,)),
        "SafeArrayGetElement": (ctypes.c_long, (_POINTER, _POINTER, _POINTER)),
        "VariantClear": (ctypes.c_long, (_POINTER,)),
    },
)


@cache
def is_wine() -> bool:
    """Whether this Windows is Wine, which needs no licence and has no PowerShell."""
    return hasattr(vars(ctypes)["WinDLL"]("ntdll"), "wine_get_version")


class Guid(ctypes.Structure):
    """A GUID; `Guid.parse("xxxxxxxx-xxxx-...")` reads one."""

    _fields_ = (("data", ctypes.c_ubyte * 16),)

    @classmethod
    def parse(cls, text: str) -> "Guid":
        """Parses the usual text form."""
        import uuid

        return cls.from_buffer_copy(uuid.UUID(text).bytes_le)
