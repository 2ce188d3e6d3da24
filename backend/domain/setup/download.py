"""`download`: puts files into the desktop."""

from collections.abc import Mapping
from typing import Any

from backend.domain.model.parameters import Parameters, asset_name
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _File(Parameters):
    url: str
    path: str


class _Download(Parameters):
    files: tuple[_File, ...]


@register(PluginKind.SETUP, "download")
class Download:
    """`files`: a list of `{url, path}`; a url is `asset:NAME` or a file of the web (see docs/assets.md)."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        for number, file in enumerate(_Download.parse(parameters).files):
            asset_name(file.url, f"files.{number}.url")

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        for file in _Download.parse(parameters).files:
            context.desktop.write_file(file.path, context.asset(asset_name(file.url, "url")))
