"""Installers: from the user's folder, or downloaded once from their vendors and verified by hash."""

import hashlib
import ssl
import urllib.error
import urllib.request
from collections.abc import Callable, Sequence
from pathlib import Path

from backend.domain.errors import Invalid, NotFound, Unavailable
from backend.domain.machines.machine_image import Package, file_sha256
from backend.domain.model.task import Frozen
from worker.images.windows.catalog import Program

_SECONDS = 60.0
_PIECE = 2**20
_MOST_BYTES = 20 * 2**30
Tell = Callable[[str], None]


class Installer(Frozen):
    """A program and its installer.

    Attributes:
        path: of the file, or of the CD image with the file.
        sha256: of that file.
    """

    program: Program
    path: Path
    sha256: str

    def package(self) -> Package:
        """Entry for `image.json`."""
        return Package(name=self.program.name, version=self.program.version, sha256=self.sha256)


def missing(programs: Sequence[Program], brought: Path | None) -> tuple[Program, ...]:
    """Programs that the user has to provide, but has not."""
    return tuple(p for p in programs if p.brought and (brought is None or not (brought / _name(p)).is_file()))


def installers(programs: Sequence[Program], brought: Path | None, cache: Path, tell: Tell) -> tuple[Installer, ...]:
    """Installers of all programs, in order.

    Args:
        programs: to install.
        brought: the user's folder of installers.
        cache: download folder; files are named by hash, and exist complete and verified, or not at all.
        tell: prints what is downloaded.

    Raises:
        NotFound: The user has to provide one.
        Invalid: A file's hash differs from the list.
        Unavailable: A download failed.
    """
    absent = missing(programs, brought)
    if absent:
        names = ", ".join(f"{_name(program)} ({program.name}, {program.licence})" for program in absent)
        hint = "docs/windows-images.md, section Programs, says where to get them. Leave them out with --without."
        raise NotFound(
            f"missing in {brought or 'the folder of installers (--installers)'}: {names}",
            code="file_not_found",
            hint=hint,
        )
    cache.mkdir(parents=True, exist_ok=True)
    return tuple(_installer(program, brought, cache, tell) for program in programs)


def _name(program: Program) -> str:
    return program.iso or program.file


def _installer(program: Program, brought: Path | None, cache: Path, tell: Tell) -> Installer:
    if program.brought:
        assert brought is not None  # noqa: S101 - `missing` has looked.
        path = brought / _name(program)
        sha256 = file_sha256(path)
        if program.sha256 not in {"", sha256}:
            raise Invalid(
                f"its sha256 is {sha256}, expected {program.sha256}", code="checksum_mismatch", path=str(path)
            )
        return Installer(program=program, path=path, sha256=sha256)
    path = cache / program.sha256
    if not path.exists():
        tell(f"downloading {program.name} {program.version} from {program.url}")
        fetch(program.url, path, program.sha256)
    return Installer(program=program, path=path, sha256=program.sha256)


def fetch(url: str, target: Path, sha256: str) -> None:
    """Downloads a file, complete and verified or not at all.

    Raises:
        Unavailable: The download failed.
        Invalid: The file has another hash.
    """
    partial = target.with_name(f"{target.name}.part")
    request = urllib.request.Request(url, headers={"User-Agent": "deskarena"})  # noqa: S310 - https, by the model.
    digest = hashlib.sha256()
    try:
        with (
            urllib.request.urlopen(request, timeout=_SECONDS, context=ssl.create_default_context()) as reply,  # noqa: S310
            partial.open("wb") as file,
        ):
            while (piece := reply.read(_PIECE)) and file.tell() <= _MOST_BYTES:
                digest.update(piece)
                file.write(piece)
        if digest.hexdigest() != sha256:
            hint = "The vendor has changed the file. Provide the old one, or list the new one's hash with --programs."
            raise Invalid(
                f"its sha256 is {digest.hexdigest()}, expected {sha256}",
                code="checksum_mismatch",
                path=url,
                hint=hint,
            )
        partial.replace(target)
    except (OSError, urllib.error.URLError) as error:
        if isinstance(error, urllib.error.HTTPError):
            error.close()  # It holds the connection.
        raise Unavailable(
            f"{url} cannot be downloaded: {error}", code="download_failed", hint=("Calling it again continues here.")
        ) from error
    finally:
        partial.unlink(missing_ok=True)
