"""An artifact store in memory, with a size that can run out."""

import hashlib
import time
from collections.abc import Iterator, Sequence

from backend.domain.errors import DamagedArtifact, NotFound, Unavailable


class MemoryStore:
    """Content-addressed bytes in a dictionary.

    Attributes:
        room: bytes that still fit; None = no limit.
        away: what it says instead of giving bytes; empty = it gives them.
    """

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.away = ""
        self.blobs: dict[str, bytes] = {}
        self.media_types: dict[str, str] = {}
        self.times: dict[str, float] = {}

    def put(self, data: bytes, media_type: str) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        if self.blobs.get(sha256) == data:
            self.times[sha256] = time.time()
            return sha256
        if self.room is not None:
            if len(data) > self.room:
                raise Unavailable("the disk is full", hint="Free some room.")
            self.room -= len(data)
        self.blobs[sha256] = data
        self.media_types[sha256] = media_type
        self.times[sha256] = time.time()
        return sha256

    def get(self, sha256: str) -> bytes:
        if self.away:
            raise Unavailable(self.away)
        if sha256 not in self.blobs:
            raise NotFound(f"there is no artifact {sha256}")
        if hashlib.sha256(self.blobs[sha256]).hexdigest() != sha256:
            raise DamagedArtifact(f"the artifact {sha256} is damaged")
        return self.blobs[sha256]

    def delete(self, sha256: str) -> None:
        _check(sha256)
        self.times.pop(sha256, None)
        data = self.blobs.pop(sha256, None)
        if data is not None and self.room is not None:
            self.room += len(data)

    def age(self, sha256: str, now: float) -> float | None:
        _check(sha256)
        return now - self.times[sha256] if sha256 in self.blobs else None

    def old(self, before: float) -> Iterator[Sequence[str]]:
        yield [sha256 for sha256, moment in self.times.items() if moment < before]

    def tidy(self, before: float) -> int:
        return 0


def _check(sha256: str) -> None:
    if len(sha256) != 64 or set(sha256) - set("0123456789abcdef"):
        raise NotFound(f"{sha256[:80]!r} is not an artifact")
