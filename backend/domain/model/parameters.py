"""Parameters of plug-ins in task files."""

from collections.abc import Mapping
from typing import Any, Self

from pydantic import ValidationError

from backend.domain.errors import Invalid
from backend.domain.model.task import Frozen
from backend.domain.model.validation_words import problem_words

ASSET = "asset:"


class Parameters(Frozen):
    """Base of a plug-in's parameters; unknown ones are errors."""

    @classmethod
    def parse(cls, parameters: Mapping[str, Any]) -> Self:
        """Parses them from a task file's JSON. Raises Invalid with the first wrong parameter's path."""
        try:
            return cls.model_validate(dict(parameters))
        except ValidationError as error:
            first = error.errors(include_url=False)[0]
            raise Invalid(
                problem_words(first), code="invalid_parameter", path=".".join(map(str, first["loc"]))
            ) from error


def asset_name(url: str, path: str) -> str:
    """The asset that an address names: `asset:NAME`, a file of the task set's assets folder, or a file of the web.

    A file of the web is an asset by its address: it is downloaded once and stored (docs/assets.md), never by a desktop
    or an evaluation.

    Raises:
        Invalid: the address has another scheme.
    """
    scheme, separator, remainder = url.partition("://")
    if separator and scheme in {"http", "https"} and remainder.strip("/"):
        return url
    name = url.removeprefix(ASSET)
    if name == url or not name:
        message = "expected asset:NAME, a file of the task set's assets folder, or an http(s) address"
        raise Invalid(f"{message}, got {url!r}", code="invalid_url", path=path)
    return name
