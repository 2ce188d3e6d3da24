"""Writes our medium and takes drivers out of virtio-win's, both by xorriso: ISO 9660 with Joliet, for Windows."""

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
"""A file of ISO 9660 that Windows reads has one extent."""


def require() -> None:
    """Raises Unavailable if xorriso is not there."""
    if shutil.which(PROGRAM) is None:
        raise Unavailable(f"{PROGRAM} is not installed", code="windows_build_failed", hint=f"apt-get install {PROGRAM}")


def write_disc(target: Path, content: Mapping[str, Path | bytes], label: str = LABEL) -> None:
    """Writes a medium, whole or not at all.

    Args:
        target: the ISO file.
        content: files by their path on the medium, with `/`.
        label: volume name.

    Raises:
        Invalid: a file is too large for the medium.
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
            hint = "Put it on a CD image of its own: `iso` and `medium` of the program."
            raise Invalid(
                f"it has {file.stat().st_size} bytes, at most {MOST_FILE} fit",
                code="invalid_iso",
                path=str(file),
                hint=hint,
            )
        lines.append(f"{_escaped(path)}={_escaped(str(file.absolute()))}\n")
    return lines


def _escaped(path: str) -> str:
    return path.replace("\\", "\\\\").replace("=", "\\=")


def extract(iso: Path, folders: Sequence[str], target: Path) -> None:
    """Takes folders out of an ISO 9660 medium.

    Args:
        iso: the medium.
        folders: their paths on it; each lies below `target` under the same path.
        target: an existing folder.

    Raises:
        Invalid: the medium cannot be read, or lacks a folder.
        Unavailable: xorriso is missing.
    """
    require()
    for folder in folders:
        place = target / folder
        place.parent.mkdir(parents=True, exist_ok=True)
        try:
            _xorriso("-osirrox", "on", "-indev", str(iso), "-extract", f"/{folder}", str(place))
        except Unavailable as error:
            hint = "Is it virtio-win.iso, of version 0.1.262 or later?"
            raise Invalid(
                f"it has no folder {folder}: {error.message}", code="invalid_iso", path=str(iso), hint=hint
            ) from error
        # What a read-only medium holds is read-only in the copy, too, folders included.
        for each in (place, *place.rglob("*")):
            each.chmod(0o755 if each.is_dir() else 0o644)


def _xorriso(*arguments: str) -> None:
    done = subprocess.run(
        # No start-up files of the user's; a warning is no failure.
        [PROGRAM, "-no_rc", "-abort_on", "FAILURE", "-return_with", "FAILURE", "32", *arguments],
        stdin=subprocess.DEVNULL,
        capture_output=True,
        text=True,
        timeout=_SECONDS,
        check=False,
        env={"PATH": os.environ.get("PATH", ""), "LANG": "C.UTF-8"},
    )
    if done.returncode:
        raise Unavailable(f"{PROGRAM} failed: {done.stderr.strip()[-500:]}", code="windows_build_failed")
