"""Artifact store of a worker's attempts: while it has no free space, no new attempt starts."""

import logging
import secrets
from collections.abc import Iterator, Sequence
from contextlib import suppress

from backend.domain.errors import NotFound, Unavailable
from backend.domain.ports.storage import ArtifactStore
from worker.base.circuit_breaker import CircuitBreaker

TRIED_BYTES = 2**20
"""Bytes that an attempt's first pictures may take."""
logger = logging.getLogger(__name__)


class GuardedStore:
    """Wraps an ArtifactStore. Thread-safe, as that is."""

    def __init__(self, store: ArtifactStore) -> None:
        self._store = store
        self.answers = CircuitBreaker("the artifact store", self._try, Unavailable)

    def put(self, data: bytes, media_type: str) -> str:
        try:
            return self._store.put(data, media_type)
        except Unavailable as error:
            self.answers.failed(error.message)
            raise

    def get(self, sha256: str) -> bytes:
        return self._store.get(sha256)

    def delete(self, sha256: str) -> None:
        self._store.delete(sha256)

    def age(self, sha256: str, now: float) -> float | None:
        return self._store.age(sha256, now)

    def old(self, before: float) -> Iterator[Sequence[str]]:
        return self._store.old(before)

    def tidy(self, before: float) -> int:
        return self._store.tidy(before)

    def _try(self) -> None:
        """Probe: stores new bytes. Raises Unavailable if there is no free space."""
        sha256 = self._store.put(secrets.token_bytes(TRIED_BYTES), "application/octet-stream")
        with suppress(NotFound):
            self._store.delete(sha256)
