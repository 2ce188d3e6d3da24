"""Check of the artifact store: writes, reads and removes an object."""

import tempfile
import time
from pathlib import Path

from backend.cli.doctor.check import CheckWords, DoctorCheck
from backend.domain.errors import DeskarenaError

STORE = CheckWords(
    name="store",
    works="pictures, evidence and files of tasks can be stored",
    lacks="nothing can be stored: runs do not start, and pages have no pictures",
    install="see docs/settings.md, or unset DESKARENA_S3_BUCKET to keep artifacts in the data folder",
)
_TRIAL = b"deskarena tries its data folder"


def store(data: Path) -> DoctorCheck:
    """Tests the bucket if one is configured, else the data folder or its nearest existing parent."""
    from backend.config import get_settings
    from backend.services.artifacts.stores import open_store, try_out

    settings = get_settings()
    if not settings.s3_bucket:
        return _folder(data)
    began = time.monotonic()
    try:
        try_out(open_store(settings))
    except DeskarenaError as error:
        return STORE.broken(error.text)
    return STORE.ok(f"bucket {settings.s3_bucket}: written, read, removed in {time.monotonic() - began:.1f} s")


def _folder(data: Path) -> DoctorCheck:
    folder = next(path for path in (data, *data.parents) if path.exists())
    try:
        with tempfile.NamedTemporaryFile(dir=folder, prefix=".deskarena-doctor-") as file:
            file.write(_TRIAL)
            file.flush()
            readable = Path(file.name).read_bytes() == _TRIAL
    except OSError as error:
        return STORE.broken(f"{folder} cannot be written to: {error.strerror}")
    return (
        STORE.ok(f"{folder}: written, read, removed")
        if readable
        else STORE.broken(f"{folder} does not return what was written")
    )
