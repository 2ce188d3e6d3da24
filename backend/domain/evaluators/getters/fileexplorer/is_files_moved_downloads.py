"""`is_files_moved_downloads`: whether a folder was moved from Downloads to OldDownloads with its file. WAA."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._routes import answer, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

DOWNLOADS, OLD = "C:\\Users\\Docker\\Downloads", "C:\\Users\\Docker\\OldDownloads"


class _Move(Parameters):
    file_name: str
    folder_name: str


@register(PluginKind.GETTER, "is_files_moved_downloads")
class IsFilesMovedDownloads(ParameterGetter):
    """`folder_name`, `file_name`. The value is the text `true` or `false`."""

    Params = _Move

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return [ask_route(context, "/list_directory", {"path": path}) for path in (DOWNLOADS, OLD)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        if len(blobs) != 2:  # noqa: PLR2004 - the old place and the new.
            raise EvaluatorFailed(f"two folders were requested, {len(blobs)} were collected", code="evidence_mismatch")
        move = _Move.parse(parameters)
        left, moved = (list(_paths(_tree(blob))) for blob in blobs)
        names = {name for path in left for name in path}
        gone = not {move.file_name, move.folder_name} <= names
        return "true" if gone and (move.folder_name, move.file_name) in moved else "false"


def _tree(blob: Blob) -> Any:
    reply = answer(blob)
    return reply.get("directory_tree") if isinstance(reply, dict) else None


def _paths(tree: Any, above: tuple[str, ...] = ()) -> Iterator[tuple[str, ...]]:
    """The names of all files and folders below, each with its relative path."""
    for child in tree.get("children", ()) if isinstance(tree, dict) else ():
        path = (*above, str(child.get("name")))
        yield path
        yield from _paths(child, path)
