"""A web in a dictionary."""

from collections.abc import Callable, Mapping

from backend.domain.errors import WebFailed
from backend.domain.ports.web import WebReply


class FakeWeb:
    """Answers with the entry of `pages` for an address, else 404.

    Attributes:
        answer: what `send` gives; called with method, address, headers and body. None = nothing is there.
        sent: method and address of every `send`, in order.
    """

    def __init__(self, pages: Mapping[str, bytes] | None = None) -> None:
        self.pages = dict(pages or {})
        self.answer: Callable[[str, str, Mapping[str, str], bytes], WebReply] | None = None
        self.sent: list[tuple[str, str]] = []

    def get(
        self, url: str, *, headers: Mapping[str, str] | None = None, max_bytes: int = 64 * 2**20, timeout: float = 60.0
    ) -> WebReply:
        if url not in self.pages:
            raise WebFailed(f"{url} does not answer")
        return WebReply(url=url, status=200, headers={}, body=self.pages[url], fetched_at=1_800_000_000.0)

    def send(  # noqa: PLR0913 - as the port
        self,
        method: str,
        url: str,
        *,
        headers: Mapping[str, str] | None = None,
        body: bytes = b"",
        max_bytes: int = 64 * 2**20,
        timeout: float = 60.0,
    ) -> WebReply:
        self.sent.append((method, url))
        if self.answer is None:
            raise WebFailed(f"{url} does not answer")
        return self.answer(method, url, headers or {}, body)
