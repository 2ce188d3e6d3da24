"""`url_shortcuts_on_desktop`: shortcuts to web pages that lie on the desktop. WAA."""

from collections.abc import Mapping
from typing import ClassVar

from backend.domain.evaluators.getters._shortcuts import Shortcuts
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "url_shortcuts_on_desktop")
class UrlShortcutsOnDesktop(Shortcuts):
    """No parameters. The value maps names of `.url` files to their texts; empty where there is no Windows."""

    suffixes: ClassVar[Mapping[str, str]] = {"Windows": ".url"}
