"""An artifact store in memory, with a size that can run out."""

import hashlib

from backend.domain.errors import NotFound, Unavailable


class MemoryStore:
    """Content-addressed bytes in a dictionary.

    Attributes:
        room: bytes that still fit; None = no limit.
    """

    def __init__(self, room: int | None = None) -> None:
        self.room = room
        self.blobs: dict[str, bytes] = {}
        self.media_types: dict[str, str] = {}

    def put(self, data: bytes, media_type: str) -> str:
        sha256 = hashlib.sha256(data).hexdigest()
        if sha256 in self.blobs:
            return sha256
        if self.room is not None:
            if len(data) > self.room:
                raise Unavailable("the disk is full", hint="Free some room.")
            self.room -= len(data)
        self.blobs[sha256] = data
        self.media_types[sha256] = media_type
        return sha256

    def get(self, sha256: str) -> bytes:
        if sha256 not in self.blobs:
            raise NotFound(f"there is no artifact {sha256}")
        return self.blobs[sha256]

    def delete(self, sha256: str) -> None:
        data = self.blobs.pop(sha256, None)
        if data is not None and self.room is not None:
            self.room += len(data)
