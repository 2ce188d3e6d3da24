"""Size of a machine's screen: its device offers several, and Windows remembers the last one."""

import ctypes
import logging

from guest_server.windows.api import user32

# By size, so that the layout is the same on every platform.
_WORD, _DWORD, _LONG, _Name = ctypes.c_uint16, ctypes.c_uint32, ctypes.c_int32, ctypes.c_uint16 * 32
_WIDTH, _HEIGHT = 0x00080000, 0x00100000
_DONE = 0
_WIDTH_METRIC, _HEIGHT_METRIC = 0, 1
_log = logging.getLogger("guest_server")


class DevMode(ctypes.Structure):
    """DEVMODEW for displays."""

    _fields_ = (
        ("device", _Name),
        ("specification", _WORD),
        ("driver", _WORD),
        ("size", _WORD),
        ("extra", _WORD),
        ("fields", _DWORD),
        ("left", _LONG),
        ("top", _LONG),
        ("orientation", _DWORD),
        ("fixed_output", _DWORD),
        ("of_printers", _WORD * 5),
        ("form", _Name),
        ("log_pixels", _WORD),
        ("bits", _DWORD),
        ("width", _DWORD),
        ("height", _DWORD),
        ("flags", _DWORD),
        ("frequency", _DWORD),
        ("rest", _DWORD * 8),
    )


def show_size(width: int, height: int) -> None:
    """Requests a size of the primary screen until the user logs off.

    An unsupported size is only logged: the health check reports the wrong screen.
    """
    if (user32.GetSystemMetrics(_WIDTH_METRIC), user32.GetSystemMetrics(_HEIGHT_METRIC)) == (width, height):
        return
    mode = DevMode(size=ctypes.sizeof(DevMode), fields=_WIDTH | _HEIGHT, width=width, height=height)
    code = user32.ChangeDisplaySettingsExW(None, ctypes.byref(mode), None, 0, None)
    if code != _DONE:
        _log.warning("Windows does not show %dx%d: ChangeDisplaySettingsEx gave %d", width, height, code)
