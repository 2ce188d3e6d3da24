"""`check_file_exists`: whether a file or folder exists."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from pydantic import Field

from backend.domain.errors import EvaluatorFailed, GuestRefused
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.omnibench.expression import DIALECT
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

_THERE = frozenset({"too_large", "forbidden", "bad_request"})
"""Refusals that prove existence: more than one byte, not readable, a folder."""


class CheckFileExistsParams(Parameters):
    """Parameters of `check_file_exists`: the file's path."""

    file_path: str = Field(min_length=1, max_length=250)


@register(PluginKind.GETTER, "check_file_exists", dialect=DIALECT)
class CheckFileExists:
    """The value is True or False. The file's content is not stored."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameter is missing."""
        CheckFileExistsParams.parse(parameters)

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        path = CheckFileExistsParams.parse(parameters).file_path
        try:
            context.desktop.read_file(path, max_bytes=1)
        except GuestRefused as error:
            if error.kind == "not_found":
                return [Blob(name=path, note=error.message)]
            if error.kind not in _THERE:
                raise
        return [Blob(name=path, data=b"")]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> bool:  # noqa: ARG002 - the port's signature
        if len(blobs) != 1:
            raise EvaluatorFailed(f"one file was requested, {len(blobs)} were collected", code="evidence_mismatch")
        return blobs[0].data is not None
