"""`recorded`: replays a cassette, so that agents run without a model: for tests, demonstrations and bug reports."""

from collections.abc import Callable
from functools import cached_property
from threading import Lock

from backend.domain.errors import ModelApiFailed
from backend.domain.ports.model import ModelReply, ModelRequest
from backend.domain.registry import PluginKind, register
from worker.models.cassette import CassetteEntry, lines_of, request_key, words_of
from worker.models.retrying_client import Caller


@register(PluginKind.MODEL, "recorded")
class CassetteClient:
    """Returns the first matching line of the endpoint's cassette that was not used yet in this attempt."""

    api = "recorded"
    about = "Replays replies from a file."
    base_url = ""

    def __init__(self, caller: Caller) -> None:
        """Args: caller: has the endpoint."""
        self._endpoint = caller.endpoint
        self._lock = Lock()

    def complete(self, request: ModelRequest, *, on_text: Callable[[str], None] | None = None) -> ModelReply:
        key, words = request_key(request), words_of(request)
        with self._lock:
            index = next((at for at, line in enumerate(self._read_entries) if _fits(line, key, words)), None)
            if index is None:
                hint = f'Record it, or add a line with "request": "{key}".'
                raise ModelApiFailed(
                    f"the cassette {self._endpoint.cassette} has no reply for this request",
                    code="no_recorded_reply",
                    hint=hint,
                )
            reply = self._read_entries.pop(index).reply
        if on_text is not None and reply.text:
            on_text(reply.text)
        return reply.model_copy(update={"model": reply.model or request.model})

    @cached_property
    def _read_entries(self) -> list[CassetteEntry]:
        if self._endpoint.cassette is None:
            raise ModelApiFailed(
                f"the endpoint {self._endpoint.name!r} has no cassette",
                code="cassette_invalid",
                hint="See docs/models.md.",
            )
        return list(lines_of(self._endpoint.cassette))


def _fits(line: CassetteEntry, key: str, message: str) -> bool:
    return line.request in {"", key} and line.when in message
