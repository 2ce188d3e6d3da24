"""`vlc_playing_info`: VLC's playback status over HTTP."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, absence, only, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

PORT = 8080
STATUS = "/requests/status.xml"
_LOGIN = {"Authorization": "Basic OnBhc3N3b3Jk"}  # No user name, and the password `password`: tasks start VLC with it.
_OK = 200
_SILENT = frozenset({"refused", "not_found", "bad_request", "too_large"})
"""Refusals that mean absence: VLC does not run, or another program answers. A slow VLC is not absent."""


class _Status(Parameters):
    dest: str


@register(PluginKind.GETTER, "vlc_playing_info")
class VlcPlayingInfo(ParameterGetter):
    """`dest`, the copy's name. The value is the path of `status.xml`, None if VLC does not answer."""

    Params = _Status

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        try:
            reply = context.http(PORT, STATUS, headers=_LOGIN)
        except GuestRefused as error:
            return [absence(STATUS, error, _SILENT)]
        if reply.status != _OK:
            return [Blob(name=STATUS, note=f"VLC answers with status {reply.status}")]
        return [Blob(name=STATUS, data=reply.body, media_type="text/xml")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        return write_blob(only(blobs), _Status.parse(parameters).dest, folder)
