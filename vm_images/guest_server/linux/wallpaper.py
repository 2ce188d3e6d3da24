"""The wallpaper: painted on the root window, or by the file manager if that draws the desktop."""

import configparser
import subprocess
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Protocol

from Xlib import X, Xatom

from guest_server.linux.x11 import XClient
from guest_server.protocol.errors import GuestError
from guest_server.protocol.machine import ScreenFrame

_COLOR = 0x2E5D7D  # A calm blue: text and windows of every theme stand out from it.
_SET_SECONDS = 10.0


class Wallpaper(Protocol):
    """Shows a picture behind the windows."""

    def current(self) -> Path | None:
        """The picture's file, None for a plain colour."""
        ...

    def show(self, path: Path) -> None: ...


class RootWallpaper:
    """Paints the root window and announces the picture with Esetroot's convention."""

    def __init__(self, x: XClient) -> None:
        self._x = x
        self._path: Path | None = None
        self._pixmap: Any = None
        self._x.root.change_attributes(background_pixel=_COLOR)
        self._x.root.clear_area()
        self._x.sync()

    def current(self) -> Path | None:
        """The picture's file."""
        return self._path

    def show(self, path: Path) -> None:
        """Fills the screen with the picture, cropping the rest."""
        screen = self._x.display.screen()
        shot = picture(path, screen.width_in_pixels, screen.height_in_pixels)
        with self._x:
            pixmap = self._x.root.create_pixmap(shot.width, shot.height, screen.root_depth)
            self._fill(pixmap, shot)
            self._x.root.change_attributes(background_pixmap=pixmap)
            for name in ("_XROOTPMAP_ID", "ESETROOT_PMAP_ID"):
                self._x.root.change_property(self._x.atom(name), Xatom.PIXMAP, 32, [pixmap.id])
            self._x.root.clear_area()
            self._x.sync()
            if self._pixmap is not None:
                self._pixmap.free()
        self._pixmap, self._path = pixmap, path

    def _fill(self, pixmap: Any, shot: ScreenFrame) -> None:
        """Sends the picture in strips that fit into an X request."""
        context = pixmap.create_gc()
        rows = max(1, 2**17 // shot.stride)
        for top in range(0, shot.height, rows):
            strip = shot.pixels[top * shot.stride : (top + rows) * shot.stride]
            height = len(strip) // shot.stride
            pixmap.put_image(context, 0, top, shot.width, height, X.ZPixmap, 24, 0, strip)
        context.free()


def picture(path: Path, width: int, height: int) -> ScreenFrame:
    """A picture file, scaled to cover the size and cut to it.

    Raises:
        GuestError: it is not a picture, or far too large.
    """
    from PIL import Image, ImageOps, UnidentifiedImageError

    try:
        with Image.open(path) as image:
            fitted = ImageOps.fit(image.convert("RGB"), (width, height))
    except (UnidentifiedImageError, Image.DecompressionBombError) as error:
        raise GuestError("bad_request", f"'{path}' is not a supported picture: {error}") from None
    return ScreenFrame(fitted.tobytes("raw", "BGRX"), width, height, width * 4)


class PcmanfmWallpaper:
    """Uses pcmanfm, which draws the desktop if the session has DESKARENA_DESKTOP=pcmanfm."""

    def __init__(self, environment: Mapping[str, str], home: Path) -> None:
        self._environment = dict(environment)
        self._config = home / ".config/pcmanfm/default/desktop-items-0.conf"

    def current(self) -> Path | None:
        """From its configuration, so changes by the user count, too."""
        parser = configparser.ConfigParser(interpolation=None, strict=False)
        parser.read(self._config, encoding="utf-8")
        for section in parser.sections():
            values = parser[section]
            if values.get("wallpaper") and values.get("wallpaper_mode", "color") != "color":
                return Path(values["wallpaper"])
        return None

    def show(self, path: Path) -> None:
        """Passes it to the running instance."""
        argv = ["pcmanfm", f"--set-wallpaper={path}", "--wallpaper-mode=crop"]
        try:
            result = subprocess.run(
                argv,
                env=self._environment,
                stdin=subprocess.DEVNULL,
                capture_output=True,
                check=False,
                timeout=_SET_SECONDS,
            )
        except subprocess.TimeoutExpired:
            raise GuestError("timeout", f"pcmanfm did not take the wallpaper within {_SET_SECONDS:g} s") from None
        if result.returncode:
            raise GuestError("failed", f"pcmanfm refused the wallpaper: {result.stderr.decode('utf-8', 'replace')}")
