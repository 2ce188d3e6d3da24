"""A web that lies in a dictionary."""

from collections.abc import Mapping

from backend.domain.errors import WebFailed
from backend.domain.ports_web import WebReply


class FakeWeb:
    """Answers with what `pages` holds for an address, else as if nothing were there."""

    def __init__(self, pages: Mapping[str, bytes] | None = None) -> None:
        self.pages = dict(pages or {})

    def get(
        self, url: str, *, headers: Mapping[str, str] | None = None, max_bytes: int = 64 * 2**20, timeout: float = 60.0
    ) -> WebReply:
        if url not in self.pages:
            raise WebFailed(f"{url} does not answer")
        return WebReply(url=url, status=200, headers={}, body=self.pages[url], fetched_at=1_800_000_000.0)
