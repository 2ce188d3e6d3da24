"""Desktop functions of Windows: folders, recycle bin, wallpaper, default applications, screen recorder."""

import ctypes
import sys
from collections.abc import Sequence
from pathlib import Path

from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, RecorderSpec
from guest_server.windows import folders
from guest_server.windows.api import failure, user32
from guest_server.windows.programs import Programs
from guest_server.windows.screen import GdiScreen

_SET_WALLPAPER, _GET_WALLPAPER = 0x0014, 0x0073
_REMEMBER_AND_TELL = 3
_LONGEST_PATH = 1024
_OPEN = "import os, sys; os.startfile(sys.argv[1])"


class WindowsShell:
    """See `machine.DesktopShell`."""

    def __init__(self, programs: Programs, screen: GdiScreen) -> None:
        self._programs = programs
        self._screen = screen

    def folder(self, name: str) -> Path:
        """The folder's current place, which the user may have changed."""
        return folders.known_folder(name)

    def wallpaper(self) -> Path | None:
        """The wallpaper in the settings."""
        buffer = ctypes.create_unicode_buffer(_LONGEST_PATH)
        if not user32.SystemParametersInfoW(_GET_WALLPAPER, _LONGEST_PATH, ctypes.addressof(buffer), 0):
            raise failure("the wallpaper")
        return Path(buffer.value) if buffer.value else None

    def set_wallpaper(self, path: Path) -> None:
        """Returns once the settings have it: Windows creates and draws its own copy."""
        from guest_server.protocol.frames import check_picture

        check_picture(path)
        name = ctypes.create_unicode_buffer(str(path.absolute()))
        if not user32.SystemParametersInfoW(_SET_WALLPAPER, 0, ctypes.addressof(name), _REMEMBER_AND_TELL):
            raise failure(f"Windows does not show '{path}'")

    def recycle(self, path: Path) -> None:
        """Moves it to Windows' recycle bin."""
        folders.recycle(path)

    def opener(self, path: Path) -> CommandSpec:
        """Opens it like a double click, in a separate process, because a program may respond slowly."""
        return CommandSpec([console_python(), "-c", _OPEN, str(path.absolute())])

    def program(self, name: str) -> Sequence[str]:
        """Finds it as the `Run` dialog does."""
        command = self._programs.find(name)
        return [command] if command else []

    def recorder(self, target: Path) -> RecorderSpec:
        """Records with ffmpeg if installed, which finishes its file on reading `q`."""
        ffmpeg = self._programs.find("ffmpeg")
        if not ffmpeg:
            raise GuestError("not_available", "recording needs ffmpeg, which this desktop does not have")
        # H.264's usual format requires even sizes.
        size = f"{self._screen.width // 2 * 2}x{self._screen.height // 2 * 2}"
        argv = [ffmpeg, "-y", "-loglevel", "error", "-f", "gdigrab", "-draw_mouse", "1", "-framerate", "30"]
        argv += ["-video_size", size, "-i", "desktop", "-c:v", "libx264", "-pix_fmt", "yuv420p", str(target)]
        return RecorderSpec(argv, farewell=b"q")


def console_python() -> str:
    """The server's own Python, not `pythonw`, which has no output."""
    own = Path(sys.executable)
    return str(own.with_name("python.exe")) if own.stem.lower() == "pythonw" else str(own)
