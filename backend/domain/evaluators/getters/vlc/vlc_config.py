"""`vlc_config`: VLC's settings."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, fetch_file, only, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

PLACES = {"Linux": "~/.config/vlc/vlcrc", "Windows": "~\\AppData\\Roaming\\vlc\\vlcrc"}


class _Config(Parameters):
    dest: str


@register(PluginKind.GETTER, "vlc_config")
class VlcConfig(ParameterGetter):
    """`dest`, the copy's name. The value is the path of `vlcrc`, None if VLC has never written it."""

    Params = _Config

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        platform = context.desktop.probe().platform
        return [fetch_file(context, PLACES.get(platform, PLACES["Linux"]))]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        return write_blob(only(blobs), _Config.parse(parameters).dest, folder)
