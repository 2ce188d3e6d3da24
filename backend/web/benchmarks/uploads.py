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
MOST_RATIO, SMALL_BYTES = 200, 64 << 20
"""Most bytes that one byte of the zip may become, once they are more than `SMALL_BYTES` together."""
MOST_FETCHED = 512 << 20
FETCH_SECONDS = 600.0
CHUNK = 1 << 20
METHODS = frozenset({zipfile.ZIP_STORED, zipfile.ZIP_DEFLATED, zipfile.ZIP_BZIP2, zipfile.ZIP_LZMA})
_ENCRYPTED, _UTF8 = 0x1, 0x800
"""Flags of an entry; APPNOTE.TXT, section 4.4.4."""
_FIRST_ENTRY = b"PK\x03\x04"
FOLDERS = "deskarena-import-"
LEFT_SECONDS = 86_400.0
"""Seconds; no import takes so long: an older folder was left by a killed process."""
_DRIVE = re.compile(r"[A-Za-z]:")
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
    with unpack_archive(archive) as folder:
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
    """The folder itself, or the only folder in it, as usual in zips.

    A folder with JSON files, but no folders and no list of tasks, is a single domain's: its name counts, so it stays.
    """
    inside = [path for path in folder.iterdir() if path.name != "__MACOSX"]
    if len(inside) != 1 or not inside[0].is_dir():
        return folder
    names = {path.name for path in inside[0].iterdir()}
    has_folders = any(path.is_dir() for path in inside[0].iterdir())
    is_domain = any(name.endswith(".json") for name in names) and "test_all.json" not in names and not has_folders
    return folder if is_domain else inside[0]


@contextmanager
def unpack_archive(archive: BinaryIO) -> Iterator[Path]:
    """The folder with the zip's files, deleted afterwards. Raises Invalid, NoRoom."""
    _take_away_left()
    with ExitStack() as stack:
        try:
            folder = Path(stack.enter_context(tempfile.TemporaryDirectory(prefix=FOLDERS)))
            with zipfile.ZipFile(archive) as files:
                _unpack(files, folder, _most_bytes(archive))
        except DeskarenaError:
            raise
        except zipfile.BadZipFile as error:
            raise _damaged_archive(archive, error) from error
        except Exception as error:  # zipfile and its decompressors raise all kinds on damaged files.
            if failure := no_room(error):
                raise failure from error
            let_through(error)
            raise _damaged_archive(archive, error) from error
        yield folder


def _damaged_archive(archive: BinaryIO, error: Exception) -> Invalid:
    """The error of a zip that cannot be read; one without a directory, which is its end, was cut off."""
    archive.seek(0)
    if archive.read(len(_FIRST_ENTRY)) == _FIRST_ENTRY and "not a zip file" in str(error):
        return Invalid("the zip file ends too early", code="archive_truncated", path="file", hint="Send it again.")
    return Invalid(f"the zip file cannot be read: {error}", code="archive_damaged", path="file")


def _most_bytes(archive: BinaryIO) -> int:
    return min(MOST_BYTES, max(SMALL_BYTES, MOST_RATIO * archive.seek(0, io.SEEK_END)))


def _take_away_left() -> None:
    """Deletes files left by killed processes."""
    for folder in Path(tempfile.gettempdir()).glob(f"{FOLDERS}*"):
        with suppress(OSError):  # It was deleted meanwhile.
            if folder.stat().st_mtime < time.time() - LEFT_SECONDS:
                shutil.rmtree(folder, ignore_errors=True)


def _unpack(files: zipfile.ZipFile, folder: Path, most_bytes: int) -> None:
    entries = [entry for entry in files.infolist() if not entry.is_dir()]
    if len(entries) > MOST_FILES:
        raise Invalid(f"{len(entries)} files are more than {MOST_FILES}", code="archive_too_large", path="file")
    places: dict[Path, zipfile.ZipInfo] = {}
    for entry in entries:
        _check_entry(entry)
        target = _place(folder, entry)
        if places.setdefault(target, entry) is not entry:
            raise Invalid(f"{_quoted_name(entry)} occurs twice", code="archive_name_twice", path="file")
    remaining = most_bytes
    for target, entry in places.items():
        remaining -= _write(files, entry, target, remaining)


def _check_entry(entry: zipfile.ZipInfo) -> None:
    if entry.flag_bits & _ENCRYPTED:
        raise Invalid(
            f"{_quoted_name(entry)} is encrypted",
            code="archive_encrypted",
            path="file",
            hint="Pack it without a password.",
        )
    if entry.compress_type not in METHODS:
        raise Invalid(
            f"{_quoted_name(entry)} is compressed by the method {entry.compress_type}",
            code="archive_method_not_supported",
            path="file",
            hint="Pack it as an ordinary zip (deflate).",
        )


def _place(folder: Path, entry: zipfile.ZipInfo) -> Path:
    """Destination of a file; names that lead out of the folder, and links, are rejected."""
    name = _name(entry)
    path = PurePosixPath(name.replace("\\", "/"))
    linked = stat.S_ISLNK(entry.external_attr >> 16)
    if path.is_absolute() or ".." in path.parts or linked or "\x00" in entry.orig_filename or _DRIVE.match(name):
        raise Invalid(f"{_quoted_name(entry)} leads outside the zip file", code="archive_unsafe", path="file")
    return folder.joinpath(*path.parts)


def _name(entry: zipfile.ZipInfo) -> str:
    """A file's name. Without the flag for UTF-8 it is read as code page 437, although most programs write UTF-8."""
    if entry.flag_bits & _UTF8 or entry.filename.isascii():
        return entry.filename
    try:
        return entry.filename.encode("cp437").decode()
    except UnicodeError:
        raise Invalid(
            f"the name {_quoted_name(entry)} is not UTF-8",
            code="archive_name_not_utf8",
            path="file",
            hint="Pack it with a program that writes UTF-8 names.",
        ) from None


def _quoted_name(entry: zipfile.ZipInfo) -> str:
    return repr(entry.filename[:120])


def _write(files: zipfile.ZipFile, entry: zipfile.ZipInfo, target: Path, remaining: int) -> int:
    """Writes one file, bounded by its real size, not the size in the zip's directory."""
    target.parent.mkdir(parents=True, exist_ok=True)
    size = 0
    with files.open(entry) as source, target.open("wb") as out:
        while part := source.read(CHUNK):
            size += len(part)
            if size > remaining:
                raise Invalid(
                    f"unpacked it is larger than {MOST_BYTES >> 20} MiB, or than {MOST_RATIO} times its size",
                    code="archive_too_large",
                    path="file",
                )
            out.write(part)
    if size != entry.file_size:
        raise zipfile.BadZipFile(f"{_quoted_name(entry)} has {size} bytes, its directory names {entry.file_size}")
    return size
