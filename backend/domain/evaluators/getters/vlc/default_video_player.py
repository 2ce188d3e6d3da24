"""`default_video_player`: the program that opens most video types on a Linux desktop."""

from collections import Counter
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import MAX_NOTE, ParameterGetter, only
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

TYPES = (
    "3gp 3gpp 3gpp2 avi divx dv fli flv mp2t mp4 mp4v-es mpeg mpeg-system msvideo ogg quicktime vnd.divx vnd.mpegurl "
    "vnd.rn-realvideo webm x-anim x-avi x-flc x-fli x-flv x-m4v x-matroska x-mpeg x-mpeg-system x-mpeg2 x-ms-asf "
    "x-ms-asf-plugin x-ms-asx x-ms-wm x-ms-wmv x-ms-wmx x-ms-wvx x-msvideo x-nsv x-ogm x-ogm+ogg x-theora x-theora+ogg"
)
"""Media types `video/...` that are queried."""
_ASK = f"command -v xdg-mime || exit 9; for t in {TYPES}; do xdg-mime query default video/$t; done; true"


@register(PluginKind.GETTER, "default_video_player")
class DefaultVideoPlayer(ParameterGetter):
    """No parameters. The value is the name of a `.desktop` file, `unknown` if no video has a default program."""

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        name = "xdg-mime query default"
        try:
            result = context.desktop.execute(_ASK, shell=True)  # noqa: S604 - in the desktop, and nothing foreign in it.
        except GuestRefused as error:
            return [Blob(name=name, note=error.message)]
        if result.returncode != 0:
            return [Blob(name=name, note=f"xdg-mime does not work here: {result.error.strip()[-MAX_NOTE:]}")]
        return [Blob(name=name, data=result.output.encode(errors="replace"), media_type="text/plain")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        blob = only(blobs)
        if blob.data is None:
            raise EvaluatorFailed(blob.note, code="evidence_unreadable")
        _, *answers = blob.data.decode(errors="replace").splitlines() or [""]
        players = Counter(line.strip() for line in answers if line.strip())
        return players.most_common(1)[0][0] if players else "unknown"
