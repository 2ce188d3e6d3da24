"""The user's folders, the recycle bin and opening of files, with Windows' shell."""

import ctypes
import os
from ctypes import wintypes
from pathlib import Path

from guest_server.protocol.errors import GuestError
from guest_server.windows.api import Guid, ole32, shell32

FOLDER_IDENTITIES = {
    "Desktop": "b4bfcc3a-db2c-424c-b029-7fe99a87c641",
    "Documents": "fdd39ad0-238f-46af-adb4-6c85480369c7",
    "Downloads": "374de290-123f-4565-9164-39c4925e467b",
    "Music": "4bd8d571-6d19-48d3-be97-422220080e43",
    "Pictures": "33e28130-4e1e-4676-835a-98395c3bc3bb",
    "Videos": "18989b1d-99b5-455b-841c-ab7c74e4ddfc",
}
"""The user's folders and their Windows ids."""
_DELETE, _ALLOW_UNDO, _SILENT, _NO_QUESTION, _NO_ERROR = 3, 0x40, 0x04, 0x10, 0x400


class _Operation(ctypes.Structure):
    """SHFILEOPSTRUCTW."""

    _fields_ = (
        ("window", wintypes.HWND),
        ("what", wintypes.UINT),
        ("source", ctypes.c_void_p),
        ("target", ctypes.c_void_p),
        ("flags", wintypes.WORD),
        ("aborted", wintypes.BOOL),
        ("mappings", ctypes.c_void_p),
        ("title", wintypes.LPCWSTR),
    )


def known_folder(name: str) -> Path:
    """One of FOLDER_IDENTITIES, wherever the user has moved it.

    Raises:
        GuestError: Windows does not return it.
    """
    pointer = ctypes.c_void_p()
    identity = Guid.parse(FOLDER_IDENTITIES[name])
    failed = shell32.SHGetKnownFolderPath(ctypes.byref(identity), 0, None, ctypes.byref(pointer))
    try:
        if failed or pointer.value is None:
            raise GuestError("failed", f"Windows does not say where the folder '{name}' is")
        return Path(ctypes.wstring_at(pointer.value))
    finally:
        ole32.CoTaskMemFree(pointer)


def recycle(path: Path) -> None:
    """Moves it to the recycle bin.

    Raises:
        FileNotFoundError: It does not exist.
        GuestError: Windows refuses.
    """
    absolute = Path(os.path.abspath(path))  # noqa: PTH100 - a link itself is what goes to the bin.
    if not os.path.lexists(absolute):
        raise FileNotFoundError(2, "No such file or directory", str(path))
    # The list of names ends with an empty one.
    names = ctypes.create_unicode_buffer(str(absolute) + "\0")
    flags = _ALLOW_UNDO | _SILENT | _NO_QUESTION | _NO_ERROR
    operation = _Operation(what=_DELETE, source=ctypes.addressof(names), flags=flags)
    code = shell32.SHFileOperationW(ctypes.byref(operation))
    if code or operation.aborted:
        raise GuestError("failed", f"Windows did not take '{path}' into the recycle bin (code {code:#x})")
