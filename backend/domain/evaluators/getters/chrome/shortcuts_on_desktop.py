"""`shortcuts_on_desktop`: shortcuts on the desktop."""

from collections.abc import Mapping
from typing import ClassVar

from backend.domain.evaluators.getters._shortcuts import Shortcuts
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "shortcuts_on_desktop")
class ShortcutsOnDesktop(Shortcuts):
    """No parameters. The value maps file names to texts: of `.desktop` files, on Windows of `.lnk` files as JSON."""

    suffixes: ClassVar[Mapping[str, str]] = {"Linux": ".desktop", "Windows": ".lnk", "Darwin": ".webloc"}


@register(PluginKind.GETTER, "url_shortcuts_on_desktop")
class UrlShortcutsOnDesktop(Shortcuts):
    """Shortcuts to web pages on the desktop. WAA.

    No parameters. The value maps names of `.url` files to their texts; empty on other systems.
    """

    suffixes: ClassVar[Mapping[str, str]] = {"Windows": ".url"}
