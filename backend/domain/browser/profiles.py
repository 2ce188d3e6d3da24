"""Locations of browser profiles in a desktop.

Folders from Chromium's documentation, https://chromium.googlesource.com/chromium/src/+/main/docs/user_data_dir.md. The
guest API understands `~` and `$VARIABLES` in paths.
"""

from enum import StrEnum

from backend.domain.model.task import Frozen


class BrowserPlatform(StrEnum):
    """Operating system of the guest, as in `Probe.platform`."""

    LINUX = "Linux"
    WINDOWS = "Windows"


class Product(Frozen):
    """A browser.

    Attributes:
        linux: its user data folders, likeliest first; related browsers that tasks use instead come last.
        windows: the same on Windows.
        program: the command that starts it.
    """

    linux: tuple[str, ...]
    windows: tuple[str, ...]
    program: str

    def folders(self, platform: str) -> tuple[str, ...]:
        """Its user data folders on that platform."""
        return self.windows if platform == BrowserPlatform.WINDOWS else self.linux


CHROME = Product(
    linux=("~/.config/google-chrome", "~/.config/chromium", "~/snap/chromium/common/chromium"),
    windows=("$LOCALAPPDATA/Google/Chrome/User Data", "$LOCALAPPDATA/Chromium/User Data"),
    program="google-chrome",
)
EDGE = Product(
    linux=("~/.config/microsoft-edge",), windows=("$LOCALAPPDATA/Microsoft/Edge/User Data",), program="msedge"
)
