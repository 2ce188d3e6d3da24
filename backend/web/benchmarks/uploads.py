"""Reads a benchmark's files from a zip, uploaded or from the web: unpacked within limits, read, deleted."""

import io
import re
import shutil
import stat
import tempfile
import time
import zipfile
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager, suppress
from http import HTTPStatus
from pathlib import Path, PurePosixPath
from typing import BinaryIO

from backend.domain import registry
from backend.domain.benchmarks import strict
from backend.domain.errors import DeskarenaError, Invalid
from backend.domain.formats.failures import let_through
from backend.domain.model.task import LoadedBenchmark
from backend.domain.ports.web import Web
from backend.domain.registry import PluginKind
from backend.web.errors import no_room

MOST_FILES = 20_000
MOST_BYTES = 1 << 30
MOST_FETCHED = 512 << 20
FETCH_SECONDS = 600.0
CHUNK = 1 << 20
FOLDERS = "deskarena-import-"
LEFT_SECONDS = 86_400.0
"""Seconds; no import takes so long: an older folder was left by a killed process."""
_REPOSITORY = re.compile(
    r"https://github\.com/(?P<owner>[\w.-]+)/(?P<name>[\w.-]+?)(\.git)?(/tree/(?P<ref>[\w./-]+?))?/?"
)


def load_zip(kind: str, archive: BinaryIO, *, strict_upstream: bool = False) -> LoadedBenchmark:
    """Reads the files in a zip with the reader of `kind`.

    Args:
        kind: name of a reader.
        archive: the zip.
        strict_upstream: whether metrics reproduce published verdicts, including upstream's bugs.

    Raises:
        Invalid: a file is invalid; the message names file and key.
        NoRoom: the temporary folder has no room for the files.
    """
    registry.load()
    try:
        reader = registry.lookup(PluginKind.BENCHMARK, kind)()
    except Invalid as error:
        raise Invalid(error.message, code="unknown_format", path="kind", hint=error.hint) from error
    with unpacked(archive) as folder:
        benchmark: LoadedBenchmark = reader.load(_root(folder))
        return strict(benchmark) if strict_upstream else benchmark


def load_url(kind: str, url: str, web: Web, *, strict_upstream: bool = False) -> LoadedBenchmark:
    """Like `load_zip` for a zip on the web, or a GitHub repository (with `/tree/BRANCH`, or its main branch).

    Raises:
        Invalid: the address is not allowed, or has no zip.
        WebFailed: the server does not answer.
        NoRoom: the temporary folder has no room for the files.
    """
    reply = web.get(zip_address(url), max_bytes=MOST_FETCHED, timeout=FETCH_SECONDS)
    if reply.status != HTTPStatus.OK:
        raise Invalid(f"{url[:300]} answers {reply.status}", code="download_refused", path="url")
    return load_zip(kind, io.BytesIO(reply.body), strict_upstream=strict_upstream)


def zip_address(url: str) -> str:
    """The address of the zip: a repository's archive, or the address itself."""
    page = _REPOSITORY.fullmatch(url)
    if page is None:
        return url
    return f"https://github.com/{page['owner']}/{page['name']}/archive/{page['ref'] or 'HEAD'}.zip"


def _root(folder: Path) -> Path:
    """The folder itself, or the only folder in it, as usual in zips. A single domain's folder is not unwrapped."""
    inside = [path for path in folder.iterdir() if path.name != "__MACOSX"]
    if len(inside) != 1 or not inside[0].is_dir():
        return folder
    wrapped = any(path.is_dir() or path.name == "test_all.json" for path in inside[0].iterdir())
    return inside[0] if wrapped else folder


@contextmanager
def unpacked(archive: BinaryIO) -> Iterator[Path]:
    """The folder with the zip's files, deleted afterwards. Raises Invalid, NoRoom."""
    _take_away_left()
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=FOLDERS)))
            with zipfile.ZipFile(archive) as files:
                _unpack(files, folder)
        except DeskarenaError:
            raise
        except Exception as error:  # zipfile and its decompressors raise all kinds on damaged files.
            if failure := no_room(error):
                raise failure from error
            let_through(error)
            raise Invalid(f"the zip file cannot be read: {error}", code="archive_damaged", path="file") from error
        yield folder


def _take_away_left() -> None:
    """Deletes files left by killed processes."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        with suppress(OSError):  # It was deleted meanwhile.
            if folder.stat().st_mtime < time.time() - LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _unpack(files: zipfile.ZipFile, folder: Path) -> None:
    entries = [entry for entry in files.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise Invalid(f"{len(entries)} files are more than {MOST_FILES}", code="archive_too_large", path="file")
    left = MOST_BYTES
    for entry in entries:
        left -= _write(files, entry, _place(folder, entry), left)


def _place(folder: Path, entry: zipfile.ZipInfo) -> Path:
    """Destination of a file; names that lead out of the folder, and links, are rejected."""
    path = PurePosixPath(entry.filename.replace("\\", "/"))
    linked = stat.S_ISLNK(entry.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or linked or "\x00" in entry.filename:
        raise Invalid(f"{entry.filename[:120]!r} leads outside the zip file", code="archive_unsafe", path="file")
    return folder.joinpath(*path.parts)


def _write(files: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, left: int) -> int:
    """Writes one file, bounded by its real size, not the size in the zip's directory."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with files.open(entry) as source, target.open("wb") as out:
        while part := source.read(CHUNK):
            size += len(part)
            if size > left:
                raise Invalid(
                    f"unpacked it is larger than {MOST_BYTES >> 20} MiB", code="archive_too_large", path="file"
                )
            out.write(part)
    return size
