"""Where artifacts lie: in a folder of this machine, or in a bucket of an S3-compatible store."""

import os

from backend.config import Settings
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.stores.folder import FolderStore


def folder_of(settings: Settings) -> FolderStore:
    """The folder, whether or not it is the one that is used."""
    return FolderStore(settings.data_dir / "artifacts")


def open_store(settings: Settings) -> ArtifactStore:
    """The store that the settings name: the bucket if there is one, else the folder below the data folder.

    Connecting happens at first use.

    Raises:
        Invalid: the settings of the bucket contradict each other.
    """
    if not settings.s3_bucket:
        return folder_of(settings)
    from backend.services.artifacts.stores.bucket import BucketStore
    from backend.services.artifacts.stores.s3 import BucketConfig

    return BucketStore(BucketConfig.of(settings))


def try_out(store: ArtifactStore) -> None:
    """Writes some bytes, reads them back and removes them.

    Raises:
        Unavailable: it cannot be written or read; the hint says what to do.
        NotFound: what was written is not there.
    """
    sha256 = store.put(b"deskarena tries its store " + os.urandom(16), "application/octet-stream")
    try:
        store.get(sha256)
    finally:
        store.delete(sha256)
