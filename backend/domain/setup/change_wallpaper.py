"""`change_wallpaper`: gives the desktop another background picture."""

from collections.abc import Mapping
from typing import Any

from pydantic import Field

from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Wallpaper(Parameters):
    path: str = Field(min_length=1)


@register(PluginKind.SETUP, "change_wallpaper")
class ChangeWallpaper:
    """`path` of a picture in the desktop. Returns when it is drawn."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Wallpaper.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        context.desktop.call("POST", "/setup/change_wallpaper", {"path": _Wallpaper.parse(parameters).path})
