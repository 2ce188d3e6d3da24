"""Base of getters of the desktop's shortcuts."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.evaluators.getters._evidence import ParameterGetter, absence
from backend.domain.evaluators.getters._folders import desktop_folder, file_names, join_path, list_folder, path_of
from backend.domain.formats.failures import let_through
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

MAX_SHORTCUTS = 200
MAX_BYTES = 2**20


class Shortcuts(ParameterGetter):
    """Base of a getter of shortcuts. The value maps file names to texts; `.lnk` files become JSON.

    Attributes:
        suffixes: file suffixes by platform; a missing platform has no shortcuts.
    """

    suffixes: ClassVar[Mapping[str, str]]

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        """See the port. The first blob is the desktop's folder."""
        suffix = self.suffixes.get(context.desktop.probe().platform)
        desktop_path = desktop_folder(context)
        if suffix is None:
            return [desktop_path]
        folder = path_of(desktop_path)
        names = [name for name in file_names(list_folder(context, folder)) or () if name.lower().endswith(suffix)]
        return [desktop_path, *(_fetch(context, join_path(folder, name), name) for name in names[:MAX_SHORTCUTS])]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if not blobs:
            raise EvaluatorFailed("the desktop's shortcuts were not collected", code="evidence_missing")
        return {blob.name: _text(blob) for blob in blobs[1:] if blob.data is not None}


def _fetch(context: SetupContext, path: str, name: str) -> Blob:
    try:
        return Blob(name=name, data=context.desktop.read_file(path, max_bytes=MAX_BYTES))
    except GuestRefused as error:
        return absence(name, error)


def _text(blob: Blob) -> str:
    data = blob.data or b""
    return _link(data) if blob.name.lower().endswith(".lnk") else data.decode(errors="replace")


def _link(data: bytes) -> str:
    """The fields of a Windows shortcut as JSON; `data.description` is its comment. Empty if it is damaged."""
    import io

    import LnkParse3  # type: ignore[import-untyped]

    try:
        parts = LnkParse3.lnk_file(io.BytesIO(data)).get_json(get_all=True)
    except Exception as error:  # noqa: BLE001 - the parser stumbles in many ways over a file that is no shortcut.
        let_through(error)
        return ""
    return json.dumps(parts, default=str)
