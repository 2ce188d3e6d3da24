"""`googledrive_file`: files of the operator's Google Drive."""

from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, Self

from pydantic import model_validator

from backend.domain.browser.google_drive import FOLDER, ROOT, SECRET, GoogleDrive
from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

Steps = tuple[str, ...]
FORMS = ("query", "path", "query_list", "path_list")


class _Drive(Parameters):
    dest: str | tuple[str, ...]
    settings_file: str = ""
    query: Steps | None = None
    path: Steps | None = None
    query_list: tuple[Steps, ...] | None = None
    path_list: tuple[Steps, ...] | None = None

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if sum(getattr(self, form) is not None for form in FORMS) != 1:
            raise ValueError(f"one of {', '.join(FORMS)} is needed")
        if isinstance(self.dest, str) == self.several or len(self.names) != len(self.searches()):
            raise ValueError("`dest` is one name for `query` and `path`, a list as long as `query_list` or `path_list`")
        return self

    @property
    def several(self) -> bool:
        """Whether the parameters are lists."""
        return self.query_list is not None or self.path_list is not None

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the copies."""
        return (self.dest,) if isinstance(self.dest, str) else self.dest

    def searches(self) -> list[Steps]:
        """For each file its queries, each in the folder that the previous one found."""
        if self.query is not None or self.query_list is not None:
            return [self.query] if self.query is not None else list(self.query_list or ())
        paths = [self.path] if self.path is not None else list(self.path_list or ())
        return [tuple(_by_name(path)) for path in paths]


@register(PluginKind.GETTER, "googledrive_file")
class GoogledriveFile(ParameterGetter):
    """`query` or `path` with `dest`, or `query_list` or `path_list` with a list in `dest`; `settings_file` is ignored.

    The account comes from the secret `googledrive_settings`. The value is the copy's path, None if the file does not
    exist; a list of paths for lists. Any other failure means no verdict, where upstream assumes a missing file.
    """

    Params = _Drive

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        drive = GoogleDrive(context.web, context.secret(SECRET))
        return [_drive_blob(drive, search) for search in _Drive.parse(parameters).searches()]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        params = _Drive.parse(parameters)
        if len(blobs) != len(params.names):
            raise EvaluatorFailed(
                f"{len(params.names)} files were requested, {len(blobs)} were collected", code="evidence_mismatch"
            )
        pairs = enumerate(zip(blobs, params.names, strict=True))
        paths = [write_blob(blob, name, folder / str(position)) for position, (blob, name) in pairs]
        return paths if params.several else paths[0]


def _drive_blob(drive: GoogleDrive, search: Steps) -> Blob:
    parent, name = ROOT, " / ".join(search)[-300:]
    file: Mapping[str, Any] | None = None
    for query in search:
        files = drive.find(f'( {query} ) and "{parent}" in parents')
        if not files:
            return Blob(name=name, note=f"nothing matches {query!r}")
        file = files[0]
        parent = str(file["id"])
    return Blob(name=name, data=drive.content(file) if file else None, note="" if file else "no file was requested")


def _by_name(path: Steps) -> Iterator[str]:
    for position, name in enumerate(path, start=1):
        title = name.replace("\\", "\\\\").replace("'", "\\'")
        folder = f" and mimeType = '{FOLDER}'" if position < len(path) else ""
        yield f"title = '{title}'{folder} and trashed = false"
