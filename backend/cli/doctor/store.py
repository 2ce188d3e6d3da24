"""Where artifacts are kept: a bucket, if one is set, is written, read and tidied for real."""

import time

from backend.cli.doctor.check import Check, Probe
from backend.domain.errors import DeskarenaError

STORE = Probe(
    name="store",
    works="pictures, evidence and files of tasks can be kept",
    lacks="nothing can be stored: runs do not start, and pages have no pictures",
    install="see docs/artifacts.md, or unset DESKARENA_S3_BUCKET to keep artifacts in the data folder",
)


def store() -> Check:
    """Try the bucket. The data folder needs no trial: its disk is looked at anyway."""
    from backend.config import get_settings
    from backend.services.stores import open_store, try_out

    settings = get_settings()
    if not settings.s3_bucket:
        return STORE.ok("a folder of the data folder")
    began = time.monotonic()
    try:
        try_out(open_store(settings))
    except DeskarenaError as error:
        return STORE.broken(error.told)
    return STORE.ok(f"bucket {settings.s3_bucket}: written, read, removed in {time.monotonic() - began:.1f} s")
