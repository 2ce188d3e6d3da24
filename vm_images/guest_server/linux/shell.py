"""Conventions of a Linux desktop: the user's folders, trash, default applications, screen recorder."""

import os
import shutil
import sys
from collections.abc import Mapping, Sequence
from datetime import datetime
from pathlib import Path
from urllib.parse import quote

from guest_server.linux.wallpaper import Wallpaper
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import CommandSpec, RecorderSpec

_FOLDER_KEYS = {"Desktop": "XDG_DESKTOP_DIR", "Documents": "XDG_DOCUMENTS_DIR"}
USUAL_FOLDERS = ("Desktop", "Documents", "Downloads", "Pictures", "Music", "Videos")

# Python with GLib is installed anyway for the accessibility tree, and knows the default applications.
_OPEN = """
import sys
import gi
gi.require_version("Gio", "2.0")
from gi.repository import Gio, GLib
try:
    Gio.AppInfo.launch_default_for_uri(Gio.File.new_for_path(sys.argv[1]).get_uri(), None)
except GLib.Error as error:
    sys.exit(error.message)
"""


class LinuxShell:
    """The freedesktop.org conventions."""

    def __init__(self, environment: Mapping[str, str], home: Path, wallpaper: Wallpaper, size: tuple[int, int]) -> None:
        self._environment = environment
        self._home = home
        self._wallpaper = wallpaper
        self._size = size

    def folder(self, name: str) -> Path:
        """From `~/.config/user-dirs.dirs`, else the usual place."""
        config = self._home / ".config/user-dirs.dirs"
        lines = config.read_text("utf-8").splitlines() if config.is_file() else []
        for line in lines:
            key, _, value = line.partition("=")
            if key.strip() == _FOLDER_KEYS[name]:
                return Path(value.strip().strip('"').replace("$HOME", str(self._home)))
        return self._home / name

    def wallpaper(self) -> Path | None:
        """The picture's file."""
        return self._wallpaper.current()

    def set_wallpaper(self, path: Path) -> None:
        self._wallpaper.show(path)

    def recycle(self, path: Path) -> None:
        """Moves it to the home trash (freedesktop.org trash specification 1.0)."""
        # The name itself, not a link's target: the link is moved to the trash.
        absolute = Path(os.path.abspath(path))  # noqa: PTH100
        if not os.path.lexists(absolute):
            raise FileNotFoundError(2, "No such file or directory", str(path))
        files, infos = (self._home / ".local/share/Trash" / part for part in ("files", "info"))
        files.mkdir(parents=True, exist_ok=True)
        infos.mkdir(parents=True, exist_ok=True)
        name = _reserve(infos, absolute)
        try:
            shutil.move(absolute, files / name)
        except OSError:
            (infos / f"{name}.trashinfo").unlink()
            raise

    def opener(self, path: Path) -> CommandSpec:
        """Opens by MIME type, as a file manager does."""
        return CommandSpec([sys.executable, "-c", _OPEN, str(path.absolute())])

    def program(self, name: str) -> Sequence[str]:
        """As the session's PATH finds it."""
        return [name] if shutil.which(name, path=self._environment["PATH"]) else []

    def recorder(self, target: Path) -> RecorderSpec:
        """Records with ffmpeg, if installed."""
        if not shutil.which("ffmpeg", path=self._environment["PATH"]):
            raise GuestError("not_available", "recording needs ffmpeg, which this desktop does not have")
        size, display = f"{self._size[0]}x{self._size[1]}", self._environment["DISPLAY"]
        argv = ["ffmpeg", "-y", "-nostdin", "-loglevel", "error", "-f", "x11grab", "-draw_mouse", "1"]
        argv += ["-framerate", "30", "-video_size", size, "-i", display, "-c:v", "libx264", "-pix_fmt", "yuv420p"]
        return RecorderSpec([*argv, str(target)])


def _reserve(infos: Path, path: Path) -> str:
    """Reserves a free name in the trash by creating its information file."""
    stamp = datetime.now().astimezone().strftime("%Y-%m-%dT%H:%M:%S")
    text = f"[Trash Info]\nPath={quote(str(path))}\nDeletionDate={stamp}\n"
    number = 1
    while True:
        name = path.name if number == 1 else f"{path.stem}.{number}{path.suffix}"
        try:
            with (infos / f"{name}.trashinfo").open("x", encoding="utf-8") as file:
                file.write(text)
        except FileExistsError:
            number += 1
        else:
            return name


def make_usual_folders(home: Path) -> None:
    """Creates the folders that every home has."""
    for name in USUAL_FOLDERS:
        (home / name).mkdir(exist_ok=True)
