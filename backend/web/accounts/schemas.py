"""Bodies of requests about projects."""

from pydantic import Field

from backend.web.api_common import RequestModel

_BY_PROVIDER = "By provider; `all` = all providers together."


class ProjectBody(RequestModel):
    """A project's scheduling settings; omitted fields stay."""

    weight: float = Field(default=1.0, ge=0.01, le=1000, examples=[2.0])
    quota: dict[str, int] = Field(default={}, description=f"Desktops at once. {_BY_PROVIDER}", examples=[{"all": 12}])
    reserved: dict[str, int] = Field(
        default={}, description="Slots kept free for its interactive episodes, by provider.", examples=[{"local": 1}]
    )
