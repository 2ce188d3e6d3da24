"""`cloud_file`: files that come with the task, as expectations."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed, TaskSetupFailed
from backend.domain.evaluators.getters._files import FilesParams, write_blobs
from backend.domain.model.parameters import asset_name
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "cloud_file")
class CloudFile:
    """`path` is a file of the web or `asset:NAME`, `dest` the copy's name; `multi`, `gives`. The value is a path.

    Upstream downloads the file at every evaluation; this getter uses the stored copy.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        """Raises Invalid if the parameters are wrong."""
        for path in FilesParams.parse(parameters).paths:
            asset_name(path, "path")

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        """See the port. Without the file there is no verdict."""
        return [_fetch(context, asset_name(path, "path")) for path in FilesParams.parse(parameters).paths]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        missing = [blob for blob in blobs if blob.data is None]
        if missing:
            raise EvaluatorFailed(
                f"the expected file is not in the evidence: {missing[0].name}", code="invalid_reference"
            )
        return write_blobs(FilesParams.parse(parameters), blobs, folder)


def _fetch(context: SetupContext, name: str) -> Blob:
    try:
        data = context.asset(name)
    except TaskSetupFailed as error:
        raise EvaluatorFailed(
            f"the expected file is missing: {error.message}", code="invalid_reference", hint=error.hint
        ) from error
    return Blob(
        name=name, data=data, note="file of the web, as downloaded" if "://" in name else "asset of the task set"
    )
