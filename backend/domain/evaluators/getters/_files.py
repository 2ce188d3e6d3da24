"""Shared parts of `vm_file` and `cloud_file`: one or several files that metrics open by path."""

from collections.abc import Sequence
from pathlib import Path
from typing import Self

from pydantic import model_validator

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import safe_name, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob


class FilesParams(Parameters):
    """`path` and `dest`; with `multi` both are lists, and `gives` are the indices for the metric (the first)."""

    path: str | tuple[str, ...]
    dest: str | tuple[str, ...]
    multi: bool = False
    gives: tuple[int, ...] = (0,)

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if isinstance(self.path, str) or isinstance(self.dest, str):
            if not (isinstance(self.path, str) and isinstance(self.dest, str)) or self.multi:
                raise ValueError("`path` and `dest` must both be strings, or with `multi` both be lists")
        elif not self.multi or not self.path or len(self.path) != len(self.dest):
            raise ValueError("lists in `path` and `dest` need `multi` and the same length")
        if any(not 0 <= give < len(self.paths) for give in self.gives):
            raise ValueError("`gives` names positions in `path`")
        return self

    @property
    def paths(self) -> tuple[str, ...]:
        """Paths of the files."""
        return (self.path,) if isinstance(self.path, str) else self.path

    @property
    def names(self) -> tuple[str, ...]:
        """Names of the copies, without folders."""
        dests = (self.dest,) if isinstance(self.dest, str) else self.dest
        return tuple(map(safe_name, dests))


def write_blobs(files: FilesParams, blobs: Sequence[Blob], folder: Path) -> str | list[str | None] | None:
    """Writes the blobs below `folder`; returns the paths for the metric, None for an absent file.

    The copies are siblings, because metrics look for companions of a file (`book-Sheet1.csv` of `book.xlsx`). Several
    files are returned in the order of `path`, whatever the order in `gives`, as in OSWorld.
    """
    if len(blobs) != len(files.names):
        raise EvaluatorFailed(
            f"{len(files.names)} files were requested, {len(blobs)} were collected", code="evidence_mismatch"
        )
    paths: list[str | None] = []
    for position, (name, blob) in enumerate(zip(files.names, blobs, strict=True)):
        duplicate = name in files.names[:position]
        paths.append(write_blob(blob, name, folder / str(position) if duplicate else folder))
    result = [paths[position] for position in sorted(set(files.gives))]
    return result[0] if len(result) == 1 else result
