"""`active_tab_url_parse`: parts of the query in the address of the visible page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Self
from urllib.parse import parse_qs, urlsplit

from pydantic import Field, model_validator

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import LiveTabParams, address, page_evidence
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Parse(LiveTabParams):
    parse_keys: tuple[str, ...]
    replace: Mapping[str, str] = Field(default_factory=dict)
    split_list: bool = False
    either: Mapping[str, str] = Field(default_factory=dict, alias="or")

    @model_validator(mode="after")
    def _fit(self) -> Self:
        unknown = set(self.replace) - set(self.parse_keys)
        if unknown:
            raise ValueError(f"`replace` has {sorted(unknown)}, which is not in `parse_keys`")
        names = {self.replace.get(key, key) for key in self.parse_keys}
        missing = {*self.either, *self.either.values()} - names
        if missing:
            raise ValueError(f"`or` has {sorted(missing)}, which is not a requested part")
        return self


@register(PluginKind.GETTER, "active_tab_url_parse")
class ActiveTabUrlParse(ParameterGetter):
    """`parse_keys` of the query; `replace` renames, `or` names a fallback for an empty part, `split_list`.

    The value maps each part to its text, empty if it is missing (with `split_list`, split at commas into a list); None
    if there is no browser.
    """

    Params = _Parse

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return page_evidence(context)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        params = _Parse.parse(parameters)
        url = address(blobs, params.goto_prefix)
        if url is None:
            return None
        try:
            query = parse_qs(urlsplit(url).query)
        except ValueError as error:
            raise EvaluatorFailed(
                f"the address {url[:200]!r} cannot be read: {error}", code="evidence_unreadable"
            ) from error
        values = {params.replace.get(key, key): query.get(key, [""])[0] for key in params.parse_keys}
        for key, other in params.either.items():
            values[key] = values[key] or values[other]
        return {key: value.split(",") for key, value in values.items()} if params.split_list else values
