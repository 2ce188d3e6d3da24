"""The Windows part of the library `computer`: the same clipboard, windows and programs that the server uses."""

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
    from guest_server.computer import Box

_PICTURE = 8
_FILE_HEADER = 14
_NEW_CONSOLE = 0x00000010

# Programs as WAA's prompts name them, where Windows calls them otherwise.
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
        """The clipboard's text."""
        return self._clipboard.read()

    def copy(self, text: str) -> None:
        """Text to the clipboard; Windows keeps it."""
        self._clipboard.write(text)

    def copy_picture(self, box: "Box") -> None:
        """A part of the screen to the clipboard, as a bitmap without the head of its file."""
        import io

        from PIL import Image

        shot = GdiScreen().grab()
        left, top, right, bottom = max(0, box[0]), max(0, box[1]), min(box[2], shot.width), min(box[3], shot.height)
        if right <= left or bottom <= top:
            raise LookupError(f"the element at {box} is not on the screen")
        whole = Image.frombytes("RGB", (shot.width, shot.height), bytes(shot.pixels), "raw", "BGRX")
        file = io.BytesIO()
        whole.crop((left, top, right, bottom)).save(file, "BMP")
        give(_PICTURE, file.getvalue()[_FILE_HEADER:])

    def windows(self) -> Sequence[WindowInfo]:
        """The application windows."""
        return self._windows.all()

    def show(self, window: WindowInfo) -> None:
        """Raises and maximises."""
        self._windows.activate(window)
        self._windows.place(window, Placement(maximized=True))

    def find_program(self, name: str) -> Sequence[str]:
        """By command, by WAA's name for it, or as the dialog `Run` finds it."""
        plain = name.strip().lower().removesuffix(".exe")
        command = self._programs.find(_PROGRAMS.get(plain, plain))
        return [command] if command else []

    def start(self, command: Sequence[str]) -> None:
        """As a person starts it: it outlives this process; one for consoles gets a window, where it reads."""
        subprocess.Popen(list(command), creationflags=_NEW_CONSOLE)
