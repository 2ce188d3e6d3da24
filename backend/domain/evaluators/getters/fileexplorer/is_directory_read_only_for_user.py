"""`is_directory_read_only_for_user`: whether a user may read a folder and not change it. WAA."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.evaluators.getters._evidence import ParameterGetter, only
from backend.domain.evaluators.getters._routes import agreed, ask_route
from backend.domain.model.parameters import Parameters
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Folder(Parameters):
    directory: str
    user: str


@register(PluginKind.GETTER, "is_directory_read_only_for_user")
class IsDirectoryReadOnlyForUser(ParameterGetter):
    """`directory`, `user`. The value is True or False."""

    Params = _Folder

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        params = _Folder.parse(parameters)
        payload = {"directory": params.directory, "user": params.user}
        return [ask_route(context, "/is_directory_read_only_for_user", payload)]

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        return agreed(only(blobs))
