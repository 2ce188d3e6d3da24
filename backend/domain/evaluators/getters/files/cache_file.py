"""`cache_file`: the output of a set-up step, stored under the name in its `stdout` or `stderr`."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter, only, write_blob
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _CacheFileParams(Parameters):
    path: str


@register(PluginKind.GETTER, "cache_file")
class CacheFile(ParameterGetter):
    """`path`: the name. The value is the path of a file with the output."""

    Params = _CacheFileParams

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        name = _CacheFileParams.parse(parameters).path
        data = context.output(name)
        note = "" if data is not None else "no step stored an output under this name"
        return [Blob(name=name, data=data, media_type="text/plain", note=note)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        """See the port. Without the output there is no verdict, because it comes from the task's own step."""
        path = write_blob(only(blobs), _CacheFileParams.parse(parameters).path, folder)
        if path is None:
            raise EvaluatorFailed(f"{blobs[0].name}: {blobs[0].note}", code="evidence_unreadable")
        return path
