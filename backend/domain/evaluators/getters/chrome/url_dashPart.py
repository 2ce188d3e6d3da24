"""`url_dashPart`: one path segment of the visible page's address."""
# ruff: noqa: N999 - upstream's name

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, Literal, Self

from pydantic import model_validator

from backend.domain.evaluators.getters._evidence import ParameterGetter
from backend.domain.evaluators.getters._live import LiveTabParams, address, page_evidence
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register


class _Part(LiveTabParams):
    partIndex: int  # noqa: N815 - as task files write it
    needDeleteId: bool = False  # noqa: N815
    returnType: Literal["string", "json"]  # noqa: N815
    key: str = ""

    @model_validator(mode="after")
    def _fit(self) -> Self:
        if self.returnType == "json" and not self.key:
            raise ValueError("`returnType` json needs `key`")
        return self


@register(PluginKind.GETTER, "url_dashPart")
class UrlDashPart(ParameterGetter):
    """`partIndex` (negative: from the end), `needDeleteId` (cut at `?`), `returnType`, `key`.

    The value is the part, or with `json` an object with it under `key`; None without that part or a browser.
    """

    Params = _Part

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:  # noqa: ARG002
        return page_evidence(context)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:  # noqa: ARG002
        params = _Part.parse(parameters)
        parts = (address(blobs, params.goto_prefix) or "").split("/")
        if parts == [""] or not -len(parts) <= params.partIndex < len(parts):
            return None
        part = parts[params.partIndex]
        part = part.split("?")[0] if params.needDeleteId else part
        return part if params.returnType == "string" else {params.key: part}
