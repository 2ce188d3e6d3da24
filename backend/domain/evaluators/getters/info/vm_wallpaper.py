"""`vm_wallpaper`: the desktop's background picture."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, only, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

PLAIN = "the desktop shows no picture"


class _Wallpaper(Parameters):
    dest: str


@register(PluginKind.GETTER, "vm_wallpaper")
class VmWallpaper(ParameterGetter):
    """`dest`, the copy's name. The value is its path (PNG), None if the desktop shows a plain colour."""

    Params = _Wallpaper

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        try:
            return [Blob(name="wallpaper", data=context.desktop.wallpaper(), media_type="image/png")]
        except GuestRefused as error:
            plain = error.kind == "not_found"
            return [Blob(name="wallpaper", note=PLAIN if plain else f"cannot be read: {error.message}")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        blob = only(blobs)
        if blob.data is None and blob.note != PLAIN:
            raise EvaluatorFailed(f"the wallpaper {blob.note}", code="evidence_unreadable")
        return write_blob(blob, _Wallpaper.parse(parameters).dest, folder)
