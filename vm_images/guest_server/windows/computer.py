"""The Windows part of the library `computer`: clipboard, windows and programs of the server."""

import os
import subprocess
from collections.abc import Sequence
from typing import TYPE_CHECKING

from guest_server.protocol.limits import GuestLimits
from guest_server.protocol.machine import Placement, WindowInfo
from guest_server.windows.clipboard import WindowsClipboard, give
from guest_server.windows.dpi_awareness import see_real_pixels
from guest_server.windows.programs import Programs
from guest_server.windows.screen import GdiScreen
from guest_server.windows.window_control import WindowsWindows

if TYPE_CHECKING:
    from guest_server.protocol.machine import Box

_PICTURE = 8
_FILE_HEADER = 14
_NEW_CONSOLE = 0x00000010

# Programs in WAA's prompts with other names on Windows.
_PROGRAMS = {
    "edge": "msedge",
    "word": "winword",
    "powerpoint": "powerpnt",
    "calculator": "calc",
    "paint": "mspaint",
    "file explorer": "explorer",
    "terminal": "wt",
    "command prompt": "cmd",
}


class WindowsPrograms:
    """See `computer.Shell`."""

    def __init__(self) -> None:
        see_real_pixels()
        self._clipboard = WindowsClipboard(GuestLimits())
        self._windows = WindowsWindows()
        self._programs = Programs(os.environ)

    def clipboard(self) -> str:
        return self._clipboard.read()

    def copy(self, text: str) -> None:
        """Text to the clipboard; Windows keeps it."""
        self._clipboard.write(text)

    def copy_picture(self, box: "Box") -> None:
        """Copies a part of the screen as a bitmap without the file header."""
        import io

        from PIL import Image

        shot = GdiScreen().grab()
        left, top, right, bottom = max(0, box[0]), max(0, box[1]), min(box[2], shot.width), min(box[3], shot.height)
        if right <= left or bottom <= top:
            raise LookupError(f"the element at {box} is not on the screen")
        picture = Image.frombytes("RGB", (shot.width, shot.height), bytes(shot.pixels), "raw", "BGRX")
        file = io.BytesIO()
        picture.crop((left, top, right, bottom)).save(file, "BMP")
        give(_PICTURE, file.getvalue()[_FILE_HEADER:])

    def windows(self) -> Sequence[WindowInfo]:
        return self._windows.all()

    def show(self, window: WindowInfo) -> None:
        self._windows.activate(window)
        self._windows.place(window, Placement(maximized=True))

    def find_program(self, name: str) -> Sequence[str]:
        """Searches by command, by WAA's name, or as the `Run` dialog does."""
        plain = name.strip().lower().removesuffix(".exe")
        command = self._programs.find(_PROGRAMS.get(plain, plain))
        return [command] if command else []

    def start(self, command: Sequence[str]) -> None:
        """Starts it interactively: it outlives this process; a console program gets a window."""
        subprocess.Popen(list(command), creationflags=_NEW_CONSOLE)
