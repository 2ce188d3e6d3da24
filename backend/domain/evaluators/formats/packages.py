"""Guards office documents, which are zip files: a small one can unpack to gigabytes."""

import zipfile
from pathlib import Path

MAX_UNPACKED = 200 * 2**20


def check_package(path: str | None) -> str:
    """Why the file cannot be opened as an office document; empty if it can be tried."""
    if path is None or not Path(path).is_file():
        return "the file is not there"
    try:
        with zipfile.ZipFile(path) as package:
            unpacked = sum(entry.file_size for entry in package.infolist())
    except (zipfile.BadZipFile, OSError, ValueError) as error:
        return f"the file is no office document: {type(error).__name__}"
    return f"the document unpacks to {unpacked // 2**20} MiB" if unpacked > MAX_UNPACKED else ""
