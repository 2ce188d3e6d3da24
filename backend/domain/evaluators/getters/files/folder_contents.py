"""`folder_contents` (ours): every file and folder below a folder, with its content's hash."""

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

# Runs inside the desktop. Prints "null" for a missing folder; stops after 500 entries.
_WALK = """
import hashlib, json, os
root = os.path.expanduser({path!r})
found = {{}} if os.path.isdir(root) else None
for folder, folders, files in os.walk(root):
    for name in sorted(folders) + sorted(files):
        path = os.path.join(folder, name)
        short = os.path.relpath(path, root).replace(os.sep, "/")
        if len(found) >= 500:
            break
        if name in folders and not os.path.islink(path):
            found[short + "/"] = {{"mode": oct(os.stat(path).st_mode & 0o777)}}
        elif os.path.isfile(path):
            with open(path, "rb") as file:
                digest = hashlib.sha256(file.read(64 * 2**20)).hexdigest()
            found[short] = {{"mode": oct(os.stat(path).st_mode & 0o777), "sha256": digest}}
        else:
            found[short] = {{"mode": "?"}}
print(json.dumps(found))
"""


class _Folder(Parameters):
    path: str


@register(PluginKind.GETTER, "folder_contents")
class FolderContents:
    """`path`. The value maps relative paths to `{mode, sha256}`; None if the folder does not exist.

    Paths use `/` on every system; folders end with it.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        _Folder.of(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = _Folder.of(parameters).path
        done = context.desktop.run_python(_WALK.format(path=path))
        if done.returncode != 0:
            return [Blob(name=path, note=done.error.strip()[-500:])]
        return [Blob(name=path, data=done.output.encode(), media_type="application/json")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if len(blobs) != 1 or blobs[0].data is None:
            note = blobs[0].note if blobs else "nothing was collected"
            raise EvaluatorFailed(f"the folder could not be read: {note}", code="evidence_unreadable")
        try:
            return json.loads(blobs[0].data)
        except ValueError as error:
            raise EvaluatorFailed(
                f"the folder's listing is cut off or damaged: {error}", code="evidence_damaged"
            ) from error
