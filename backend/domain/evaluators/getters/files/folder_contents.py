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

# Runs inside the desktop. Prints "null" for a missing folder. What cannot be read, or is read after the first 512 MiB,
# has no hash: an agent must not make the question fail, or last for ever. The entry "" says that there is more than
# was listed: over 500 entries, or a folder that cannot be read.
_WALK = """
import hashlib, json, os
root = os.path.expanduser({path!r})
found = {{}} if os.path.isdir(root) else None
left = 512 * 2**20

def more(error=None):
    if found is not None:
        found[""] = {{"mode": "?"}}

for folder, folders, files in os.walk(root, onerror=more):
    if len(found) > 500:
        break
    for name in sorted(folders) + sorted(files):
        path = os.path.join(folder, name)
        short = os.path.relpath(path, root).replace(os.sep, "/")
        if len(found) >= 500:
            more()
            break
        entry = {{"mode": "?"}}
        is_folder = name in folders and not os.path.islink(path)
        try:
            if is_folder or os.path.isfile(path):
                entry["mode"] = oct(os.stat(path).st_mode & 0o777)
            if not is_folder and os.path.isfile(path) and left > 0:
                with open(path, "rb") as file:
                    data = file.read(min(left, 64 * 2**20))
                left -= len(data)
                entry["sha256"] = hashlib.sha256(data).hexdigest()
        except OSError:
            pass
        found[short + "/" if is_folder else short] = entry
print(json.dumps(found))
"""


class _Folder(Parameters):
    path: str


@register(PluginKind.GETTER, "folder_contents")
class FolderContents:
    """`path`. The value maps relative paths to `{mode, sha256}`; None if the folder does not exist.

    What cannot be read has no `sha256`, or no known mode (`?`). An entry without a name means that not all is listed.

    Paths use `/` on every system; folders end with it.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        _Folder.parse(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = _Folder.parse(parameters).path
        result = context.desktop.run_python(_WALK.format(path=path))
        if result.returncode != 0:
            return [Blob(name=path, note=result.error.strip()[-500:])]
        return [Blob(name=path, data=result.output.encode(), media_type="application/json")]

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
