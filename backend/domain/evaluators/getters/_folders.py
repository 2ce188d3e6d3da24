"""Known folders of the desktop, and the contents of a folder."""

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import json_value, python_says
from backend.domain.evaluators.getters._routes import ask_route, text_at
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext

# Runs inside the desktop. Prints null for a missing folder, or one that its user may not read, else {files, folders};
# at most 10,000 names.
_LIST = """
import os
path = os.path.expanduser(VALUES["path"])
found = None
try:
    entries = sorted(os.scandir(path), key=lambda entry: entry.name)[:10000] if os.path.isdir(path) else None
except OSError:
    entries = None
if entries is not None:
    found = {"files": [], "folders": []}
    for entry in entries:
        found["folders" if entry.is_dir() else "files"].append(entry.name)
print(json.dumps(found))
"""


def list_folder(context: SetupContext, path: str) -> Blob:
    """The names of files and folders directly in a folder."""
    return python_says(context, path, _LIST, path=path)


def file_names(blob: Blob) -> list[str] | None:
    """The files that `list_folder` found, None if the folder does not exist.

    Raises:
        EvaluatorFailed: it could not be listed.
    """
    listing = json_value(blob)
    if listing is None:
        return None
    if not isinstance(listing, dict) or not isinstance(listing.get("files"), list):
        raise EvaluatorFailed(f"the listing of {blob.name} is damaged", code="evidence_damaged")
    return [str(name) for name in listing["files"]]


def desktop_folder(context: SetupContext) -> Blob:
    """The path of the folder `Desktop`."""
    return ask_route(context, "/desktop_path")


def documents_folder(context: SetupContext) -> Blob:
    """The path of the folder `Documents`."""
    return ask_route(context, "/documents_path")


def path_of(blob: Blob) -> str:
    """The path collected by `desktop_folder` or `documents_folder`. Raises EvaluatorFailed if there is none."""
    return text_at(blob, blob.name.removeprefix("/"))


def join_path(folder: str, name: str) -> str:
    """A file's path below a folder, with the separator of the folder's system."""
    return f"{folder.rstrip('/' + chr(92))}{chr(92) if chr(92) in folder or folder[1:2] == ':' else '/'}{name}"
