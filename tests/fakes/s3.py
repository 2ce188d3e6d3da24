"""An S3-protocol server on loopback for tests: moto's, or the one that DESKARENA_TEST_S3 names."""

import os
from collections.abc import Iterator
from contextlib import contextmanager
from uuid import uuid4

from backend.services.artifacts.stores.s3 import BucketConfig


@contextmanager
def s3_server() -> Iterator[str]:
    """The address of a server that answers.

    DESKARENA_TEST_S3=http://... with DESKARENA_S3_ACCESS_KEY and DESKARENA_S3_SECRET_KEY names another one, for example
    a SeaweedFS: its key must be allowed to make buckets.
    """
    named = os.environ.get("DESKARENA_TEST_S3", "")
    if named:
        yield named
        return
    from moto.server import ThreadedMotoServer

    server = ThreadedMotoServer(ip_address="127.0.0.1", port=0, verbose=False)
    server.start()
    host, port = server.get_host_and_port()
    try:
        yield f"http://{host}:{port}"
    finally:
        server.stop()


def place_at(endpoint: str, *, prefix: str = "") -> BucketConfig:
    """A bucket there that does not exist yet."""
    return BucketConfig(
        bucket=f"deskarena-{uuid4().hex[:12]}",
        endpoint=endpoint,
        prefix=prefix,
        access_key=os.environ.get("DESKARENA_S3_ACCESS_KEY", "key"),
        secret_key=os.environ.get("DESKARENA_S3_SECRET_KEY", "secret"),
    )
