"""The installers: from the user's folder, or fetched once from their makers, checked by their hashes."""

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
    """A program and the file that it is installed from.

    Attributes:
        path: of the file, or of the CD image that it lies on.
        sha256: of that.
    """

    program: Program
    path: Path
    sha256: str

    def package(self) -> Package:
        """For `image.json`."""
        return Package(name=self.program.name, version=self.program.version, sha256=self.sha256)


def missing(programs: Sequence[Program], brought: Path | None) -> tuple[Program, ...]:
    """The programs that the user has to bring and has not."""
    return tuple(p for p in programs if p.brought and (brought is None or not (brought / _name(p)).is_file()))


def installers(programs: Sequence[Program], brought: Path | None, cache: Path, tell: Tell) -> tuple[Installer, ...]:
    """The files of all programs, in their order.

    Args:
        programs: that are wanted.
        brought: the user's folder of installers.
        cache: folder for what is fetched; a file is there under its hash, whole and right, or not at all.
        tell: is told what is fetched.

    Raises:
        NotFound: the user has to bring one.
        Invalid: a file has another hash than the list says.
        Unavailable: a maker's server does not give the file.
    """
    absent = missing(programs, brought)
    if absent:
        names = ", ".join(f"{_name(program)} ({program.name}, {program.licence})" for program in absent)
        hint = "docs/windows-images.md, 'Programs', says where they come from; or leave them out with --without."
        raise NotFound(
            f"{brought or 'the folder of installers (--installers)'} lacks {names}", code="file_not_found", hint=hint
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
                f"its sha256 is {sha256}, the list says {program.sha256}", code="checksum_mismatch", path=str(path)
            )
        return Installer(program=program, path=path, sha256=sha256)
    path = cache / program.sha256
    if not path.exists():
        tell(f"fetching {program.name} {program.version} from {program.url}")
        fetch(program.url, path, program.sha256)
    return Installer(program=program, path=path, sha256=program.sha256)


def fetch(url: str, target: Path, sha256: str) -> None:
    """Fetches a file, whole and right or not at all.

    Raises:
        Unavailable: the server does not give it.
        Invalid: it is another file than it should be.
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
            hint = "The maker gives another file now; bring the old one, or list the new one's hash with --programs."
            raise Invalid(
                f"its sha256 is {digest.hexdigest()}, the list says {sha256}",
                code="checksum_mismatch",
                path=url,
                hint=hint,
            )
        partial.replace(target)
    except (OSError, urllib.error.URLError) as error:
        raise Unavailable(
            f"{url} cannot be fetched: {error}", code="download_failed", hint="Calling again goes on here."
        ) from error
    finally:
        partial.unlink(missing_ok=True)
