"""Bodies of requests about benchmarks."""

from pydantic import Field

from backend.web.api_common import RequestModel


class ImportFromUrl(RequestModel):
    """A benchmark on the web: a zip, or a repository's page on GitHub."""

    kind: str = Field(min_length=1, max_length=100, examples=["osworld"])
    url: str = Field(min_length=1, max_length=2000, examples=["https://github.com/xlang-ai/OSWorld"])
    name: str = Field(default="", max_length=100, pattern="^[A-Za-z0-9][A-Za-z0-9._-]*$|^$")
    title: str = Field(default="", max_length=200)
    strict_upstream: bool = Field(default=False, description="Metrics judge as published, faults included.")
