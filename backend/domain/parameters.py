"""Parameters of plug-ins as task files write them."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.task import Frozen

ASSET = "asset:"


class Parameters(Frozen):
    """Base of a plug-in's parameters; an unknown one is an error."""

    @classmethod
    def of(cls, parameters: Mapping[str, Any]) -> Self:
        """Reads them from a task file's JSON. Raises Invalid with the first wrong parameter's path."""
        try:
            return cls.model_validate(dict(parameters))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid(first["msg"], path=".".join(map(str, first["loc"]))) from error


def asset_name(url: str, path: str) -> str:
    """The asset that `asset:NAME` names.

    Raises:
        Invalid: another kind of address. A desktop has no network of its own: what a task needs comes with its set.
    """
    name = url.removeprefix(ASSET)
    if name == url or not name:
        raise Invalid(f"expected asset:NAME, a file of the task set's assets folder, got {url!r}", path=path)
    return name
