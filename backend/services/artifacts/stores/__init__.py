"""Artifact stores: a folder, or a bucket of an S3-compatible store."""

import os

from backend.config import Settings
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.stores.folder import FolderStore


def folder_of(settings: Settings) -> FolderStore:
    """The folder store, whether or not it is configured."""
    return FolderStore(settings.data_dir / "artifacts")


def open_store(settings: Settings) -> ArtifactStore:
    """The configured store: the bucket if there is one, else the folder in the data folder.

    Connects on first use.

    Raises:
        Invalid: The settings of the bucket are inconsistent.
    """
    if not settings.s3_bucket:
        return folder_of(settings)
    from backend.services.artifacts.stores.bucket import BucketStore
    from backend.services.artifacts.stores.s3 import BucketConfig

    return BucketStore(BucketConfig.from_settings(settings))


def try_out(store: ArtifactStore) -> None:
    """Writes, reads and removes a test object.

    Raises:
        Unavailable: it cannot be written or read; the hint says what to do.
        NotFound: The written object is missing.
    """
    sha256 = store.put(b"deskarena tries its store " + os.urandom(16), "application/octet-stream")
    try:
        store.get(sha256)
    finally:
        store.delete(sha256)
