"""Artifact store in a bucket of an S3-compatible store: Amazon S3, SeaweedFS, Ceph and others."""

import base64
import hashlib
import time
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from botocore.exceptions import BotoCoreError, ClientError
from botocore.response import StreamingBody

from backend.domain.errors import DamagedArtifact, Unavailable
from backend.services.artifacts.stores.keys import absent, check_bytes, hash_in, key_of
from backend.services.artifacts.stores.s3 import (
    BucketConfig,
    code_of,
    connect,
    is_absent,
    lacks_bucket,
    no_bucket,
    store_error,
)

FRESH_SECONDS = 3600.0
"""Objects younger than this are not rewritten when the same bytes are stored again."""
MOST_BYTES = 2 * 2**30
"""Larger objects are not artifacts of ours and are not read into memory."""
READ_SECONDS = 120.0
"""Time limit for reading an object, including retries."""
LISTED = 1000
"""Maximum number of objects per list request."""
_PIECE = 2**20


class IncompleteRead(Unavailable):
    """An object's bytes ended early."""

    code = "store_unavailable"


class BucketStore:
    """An ArtifactStore in a bucket: `PREFIXab/cd/abcd...`, each object written by one request, so never partially.

    The bucket is created on the first write if it is missing and the key permits it.
    """

    def __init__(self, config: BucketConfig) -> None:
        self.config = config
        self._client = connect(config)

    def put(self, data: bytes, media_type: str) -> str:  # noqa: ARG002 - the port's signature; the row keeps the type
        """Existing old objects are rewritten, which protects them from garbage collection."""
        sha256 = hashlib.sha256(data).hexdigest()
        head = self._head(sha256)
        if head is None or head["ContentLength"] != len(data) or _age(head, time.time()) > FRESH_SECONDS:
            self._write(sha256, data)
        return sha256

    def get(self, sha256: str) -> bytes:
        """Damaged or incomplete bytes are requested once more."""
        deadline = time.monotonic() + READ_SECONDS
        try:
            return self._read(sha256, deadline)
        except (DamagedArtifact, IncompleteRead):
            return self._read(sha256, deadline)

    def delete(self, sha256: str) -> None:
        where = self._object(sha256)
        try:
            self._client.delete_object(**where)
        except (BotoCoreError, ClientError) as error:
            raise store_error(error, self.config) from error

    def age(self, sha256: str, now: float) -> float | None:
        """See ArtifactStore. By the store's clock."""
        head = self._head(sha256)
        return None if head is None else _age(head, now)

    def old(self, before: float) -> Iterator[Sequence[str]]:
        """See ArtifactStore. A batch is what one request lists."""
        pages = self._client.get_paginator("list_objects_v2")
        try:
            for page in pages.paginate(Bucket=self.config.bucket, Prefix=self.config.prefix, MaxKeys=LISTED):
                objects = [entry for entry in page.get("Contents", ()) if entry["LastModified"].timestamp() < before]
                yield [
                    sha256 for entry in objects if (sha256 := hash_in(entry["Key"].removeprefix(self.config.prefix)))
                ]
        except (BotoCoreError, ClientError) as error:
            raise store_error(error, self.config) from error

    def tidy(self, before: float) -> int:  # noqa: ARG002 - the port's signature
        """Does nothing: objects are written atomically. See ArtifactStore."""
        return 0

    def _object(self, sha256: str) -> dict[str, str]:
        return {"Bucket": self.config.bucket, "Key": self.config.prefix + key_of(sha256)}

    def _head(self, sha256: str) -> Mapping[str, Any] | None:
        where = self._object(sha256)
        try:
            head: Mapping[str, Any] = self._client.head_object(**where)
        except ClientError as error:
            # Whether the bucket itself is missing shows at the next write.
            if is_absent(error):
                return None
            raise store_error(error, self.config) from error
        except BotoCoreError as error:
            raise store_error(error, self.config) from error
        return head

    def _write(self, sha256: str, data: bytes) -> None:
        # The store verifies the checksum: a damaged upload is refused and repeated.
        digest = base64.b64encode(hashlib.md5(data, usedforsecurity=False).digest()).decode()
        request = {**self._object(sha256), "Body": data, "ContentMD5": digest}
        try:
            try:
                self._client.put_object(**request)
            except ClientError as error:
                if not lacks_bucket(error):
                    raise
                self._make_bucket()
                self._client.put_object(**request)
        except (BotoCoreError, ClientError) as error:
            raise store_error(error, self.config) from error

    def _make_bucket(self) -> None:
        try:
            self._client.create_bucket(Bucket=self.config.bucket, **self.config.location())
        except ClientError as error:
            # Two processes may try at the same time.
            if code_of(error) != "BucketAlreadyOwnedByYou":
                raise no_bucket(self.config, f"could not be made: {error}") from error

    def _read(self, sha256: str, deadline: float) -> bytes:
        try:
            reply = self._client.get_object(**self._object(sha256))
            return check_bytes(sha256, _whole(reply["Body"], reply["ContentLength"], deadline), self.config.name)
        except ClientError as error:
            if is_absent(error):
                raise absent(sha256) from error
            raise store_error(error, self.config) from error
        except BotoCoreError as error:
            raise store_error(error, self.config) from error


def _age(head: Mapping[str, Any], now: float) -> float:
    return float(now - head["LastModified"].timestamp())


def _whole(body: StreamingBody, size: int, deadline: float) -> bytes:
    """All bytes of an object.

    Raises:
        IncompleteRead: they ended early, or took longer than the deadline.
        DamagedArtifact: The object is larger than any artifact.
    """
    if size > MOST_BYTES:
        body.close()
        raise DamagedArtifact(f"the object has {size} bytes, more than an artifact can have")
    pieces = bytearray()
    try:
        while piece := body.read(_PIECE):
            pieces += piece
            if time.monotonic() > deadline:
                raise IncompleteRead(
                    f"{size} bytes took longer than {READ_SECONDS:g} s", hint="Check the load of the store."
                )
    except BotoCoreError as error:
        raise IncompleteRead(
            f"the transfer of an artifact was interrupted: {error}", hint="Check the network."
        ) from error
    finally:
        body.close()
    return bytes(pieces)
