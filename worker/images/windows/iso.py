"""Writes our medium and extracts drivers from virtio-win's, with xorriso: ISO 9660 with Joliet, for Windows."""

import os
import shutil
import subprocess
import tempfile
from collections.abc import Mapping, Sequence
from pathlib import Path

from backend.domain.errors import Invalid, Unavailable
from worker.images.windows.autounattend import LABEL

PROGRAM = "xorriso"
_SECONDS = 3600.0
MOST_FILE = 4 * 2**30 - 2048
"""Windows reads ISO 9660 files of one extent only."""


def require() -> None:
    """Raises Unavailable if xorriso is missing."""
    if shutil.which(PROGRAM) is None:
        raise Unavailable(f"{PROGRAM} is not installed", code="windows_build_failed", hint=f"apt-get install {PROGRAM}")


def write_disc(target: Path, content: Mapping[str, Path | bytes], label: str = LABEL) -> None:
    """Writes a medium, complete or not at all.

    Args:
        target: the ISO file.
        content: files by path on the medium, with `/`.
        label: volume name.

    Raises:
        Invalid: A file is too large for the medium.
        Unavailable: xorriso is missing, or failed.
    """
    require()
    with tempfile.TemporaryDirectory(dir=target.parent, prefix=".medium-") as scratch:
        listed = Path(scratch) / "list"
        partial = Path(scratch) / "medium.iso"
        listed.write_text("".join(_lines(content, Path(scratch))))
        format_ = ["-V", label, "-J", "-joliet-long", "-iso-level", "3", "-input-charset", "utf-8"]
        _xorriso("-as", "mkisofs", "-quiet", *format_, "-graft-points", "-path-list", str(listed), "-o", str(partial))
        partial.replace(target)


def _lines(content: Mapping[str, Path | bytes], scratch: Path) -> list[str]:
    lines = []
    for number, (path, source) in enumerate(content.items()):
        file = source if isinstance(source, Path) else scratch / f"content-{number}"
        if isinstance(source, bytes):
            file.write_bytes(source)
        if file.stat().st_size > MOST_FILE:
            hint = "Put it on a separate CD image: `iso` and `medium` of the program."
            raise Invalid(
                f"it has {file.stat().st_size} bytes, the maximum is {MOST_FILE}",
                code="invalid_iso",
                path=str(file),
                hint=hint,
            )
        lines.append(f"{_escape(path)}={_escape(str(file.absolute()))}\n")
    return lines


def _escape(path: str) -> str:
    return path.replace("\\", "\\\\").replace("=", "\\=")


def extract(iso: Path, folders: Sequence[str], target: Path) -> None:
    """Extracts folders from an ISO 9660 medium.

    Args:
        iso: the medium.
        folders: paths on it; each is extracted to the same path below `target`.
        target: an existing folder.

    Raises:
        Invalid: the medium cannot be read, or a folder is missing.
        Unavailable: xorriso is missing.
    """
    require()
    for folder in folders:
        file = target / folder
        file.parent.mkdir(parents=True, exist_ok=True)
        try:
            _xorriso("-osirrox", "on", "-indev", str(iso), "-extract", f"/{folder}", str(file))
        except Unavailable as error:
            hint = "Check that it is virtio-win.iso, version 0.1.262 or later."
            raise Invalid(
                f"the folder {folder} is missing: {error.message}", code="invalid_iso", path=str(iso), hint=hint
            ) from error
        # Files and folders from a read-only medium are read-only in the copy, too.
        for path in (file, *file.rglob("*")):
            path.chmod(0o755 if path.is_dir() else 0o644)


def _xorriso(*arguments: str) -> None:
    result = subprocess.run(
        # Ignores the user's configuration; a warning is not a failure.
        [PROGRAM, "-no_rc", "-abort_on", "FAILURE", "-return_with", "FAILURE", "32", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
    )
    if result.returncode:
        raise Unavailable(f"{PROGRAM} failed: {result.stderr.strip()[-500:]}", code="windows_build_failed")
