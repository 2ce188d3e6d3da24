"""`cloud_file`: files that come with the task set, to compare with."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._files import Files, written
from backend.domain.parameters import asset_name
from backend.domain.ports import SetupContext
from backend.domain.registry import Kind, register
from backend.domain.score import Blob


@register(Kind.GETTER, "cloud_file")
class CloudFile:
    """`path` is `asset:NAME`, `dest` the copy's name; `multi`, `gives`. The value is the copy's path."""

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        for path in Files.of(parameters).paths:
            asset_name(path, "path")

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port."""
        names = [asset_name(path, "path") for path in Files.of(parameters).paths]
        return [Blob(name=name, data=context.asset(name), note="asset of the task set") for name in names]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        """See the port."""
        return written(Files.of(parameters), blobs, folder)
