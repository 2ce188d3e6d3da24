"""The Linux part of the library `computer`: xclip, EWMH windows, desktop entries."""

import io
import os
import shlex
import shutil
import subprocess
from collections.abc import Sequence

from PIL import Image
from Xlib import X

from guest_server.linux.menu import installed_applications
from guest_server.linux.window_control import XWindows
from guest_server.linux.x11 import XClient
from guest_server.protocol.machine import Box, Placement, WindowInfo

_CLIPBOARD_SECONDS = 5.0
_XCLIP = ("xclip", "-selection", "clipboard")

# Programs in WAA's prompts, and their equivalents on a Linux desktop, the first installed one is used.
_PROGRAMS = {
    "msedge": ("google-chrome", "chromium"),
    "edge": ("google-chrome", "chromium"),
    "chrome": ("google-chrome", "chromium"),
    "notepad": ("mousepad", "gedit"),
    "winword": ("libreoffice --writer",),
    "word": ("libreoffice --writer",),
    "excel": ("libreoffice --calc",),
    "powerpnt": ("libreoffice --impress",),
    "powerpoint": ("libreoffice --impress",),
    "explorer": ("pcmanfm", "thunar", "nautilus"),
    "calc": ("galculator", "gnome-calculator"),
    "mspaint": ("drawing", "gimp"),
    "cmd": ("xfce4-terminal", "xterm"),
    "powershell": ("xfce4-terminal", "xterm"),
    "wt": ("xfce4-terminal", "xterm"),
    "outlook": ("thunderbird",),
}


class LinuxPrograms:
    """See `computer.Shell`."""

    def __init__(self) -> None:
        self._x = XClient(os.environ["DISPLAY"])
        self._windows = XWindows(self._x)

    def clipboard(self) -> str:
        result = subprocess.run(
            [*_XCLIP, "-o", "-t", "UTF8_STRING"], capture_output=True, timeout=_CLIPBOARD_SECONDS, check=False
        )
        return result.stdout.decode("utf-8", "replace")

    def copy(self, text: str) -> None:
        """Copies text; xclip stays in the background to serve it."""
        self._give(text.encode(), "UTF8_STRING")

    def copy_picture(self, box: Box) -> None:
        """A part of the screen to the clipboard."""
        geometry = self._x.root.get_geometry()
        left, top = max(0, box[0]), max(0, box[1])
        size = min(box[2], geometry.width) - left, min(box[3], geometry.height) - top
        if min(size) <= 0:
            raise LookupError(f"the element at {box} is not on the screen")
        raw = self._x.root.get_image(left, top, *size, X.ZPixmap, 0xFFFFFFFF)
        picture = io.BytesIO()
        Image.frombytes("RGB", size, raw.data, "raw", "BGRX").save(picture, "PNG")
        self._give(picture.getvalue(), "image/png")

    def _give(self, data: bytes, target: str) -> None:
        subprocess.run(
            [*_XCLIP, "-i", "-t", target],
            input=data,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            timeout=_CLIPBOARD_SECONDS,
            check=True,
        )

    def windows(self) -> Sequence[WindowInfo]:
        return self._windows.all()

    def show(self, window: WindowInfo) -> None:
        self._windows.activate(window)
        self._windows.place(window, Placement(maximized=True))

    def find_program(self, name: str) -> Sequence[str]:
        """Searches by command, by WAA's name, or by name in the menu."""
        plain = name.strip().lower().removesuffix(".exe")
        named = [shlex.split(entry.command) for entry in installed_applications() if entry.name.lower() == plain]
        usual = [shlex.split(command) for command in _PROGRAMS.get(plain, ())]
        for command in ([name.strip()], *usual, [plain], *named):
            if command[0] and shutil.which(command[0]):
                return command
        return []

    def start(self, command: Sequence[str]) -> None:
        """Starts it in its own session."""
        subprocess.Popen(
            list(command),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL,
            stderr=subprocess.DEVNULL,
            start_new_session=True,
        )
