"""`gimp_config_file`: one of GIMP's settings files."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, first_of, only, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

VERSIONS = ("2.10", "3.0", "3.2")


class _Config(Parameters):
    file_name: str
    dest: str


@register(PluginKind.GETTER, "gimp_config_file")
class GimpConfigFile(ParameterGetter):
    """`file_name` (`gimprc`, `sessionrc`, ...), `dest`, the copy's name. The value is its path, None if absent.

    The file of GIMP 2.10 if it exists, else of 3.0 or 3.2.
    """

    Params = _Config

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        name = _Config.parse(parameters).file_name
        windows = context.desktop.probe().platform == "Windows"
        form = "~\\AppData\\Roaming\\GIMP\\{}\\{}" if windows else "~/.config/GIMP/{}/{}"
        return [first_of(context, [form.format(version, name) for version in VERSIONS])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        """See the port. An empty file counts as missing."""
        blob = only(blobs)
        return write_blob(blob, _Config.parse(parameters).dest, folder) if blob.data else None
