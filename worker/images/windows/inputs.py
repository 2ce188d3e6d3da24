"""Inputs of a build besides Windows: installers, drivers, the guest server; downloaded once, verified by hash."""

import hashlib
import shutil
from collections.abc import Mapping
from pathlib import Path

from backend.domain.errors import Invalid
from backend.domain.machines.machine_image import Package, file_sha256
from worker.images.windows import fetch, iso, server
from worker.images.windows.plan import DRIVER_FOLDER, DRIVERS, BuildPlan, BuildRequest, ServerArchive
from worker.images.windows.stages import Tell


class BuildInputs:
    """Input files of one build."""

    def __init__(self, request: BuildRequest, plan: BuildPlan, tell: Tell) -> None:
        self._request, self._plan, self._tell = request, plan, tell

    def media(self) -> tuple[str, ...]:
        """The user's media by name, size and time: hashing takes a while and is a stage of its own."""
        states = [(file.absolute(), file.stat()) for file in (self._request.iso, self._request.virtio)]
        return tuple(f"{path} {state.st_size} {state.st_mtime_ns}" for path, state in states)

    def media_packages(self) -> list[Package]:
        """The media for `image.json`."""
        request, edition = self._request, self._plan.edition.name
        media = [("Windows", request.iso, edition), ("virtio-win", request.virtio, request.virtio.stem)]
        return [Package(name=name, version=version, sha256=file_sha256(path)) for name, path, version in media]

    def installers(self) -> tuple[fetch.Installer, ...]:
        """Installers of all programs. Raises as `fetch.installers`."""
        programs = self._plan.programs.programs
        return fetch.installers(programs, self._request.brought, self._request.cache, self._tell)

    def program_packages(self) -> list[Package]:
        """Programs and the guest server's Python for `image.json`."""
        python = server.read_python()
        own = Package(name="Python of the guest server", version=python.version, sha256=python.sha256)
        return [own, *(installer.package() for installer in self.installers())]

    def drivers(self, work: Path) -> dict[str, Path]:
        """virtio-win's drivers for this Windows, by path on our medium.

        Args:
            work: folder for extraction; emptied before.

        Raises:
            Invalid, Unavailable: as `iso.extract`.
        """
        shutil.rmtree(work, ignore_errors=True)
        work.mkdir(parents=True)
        folders = [f"{name}/{self._plan.edition.drivers}/amd64" for name in DRIVERS]
        iso.extract(self._request.virtio, folders, work)
        files = [path for path in sorted(work.rglob("*")) if path.is_file()]
        return {f"{DRIVER_FOLDER}/{path.relative_to(work)}": path for path in files}

    def python(self) -> Path:
        """The guest server's Python as listed. Raises as `fetch.fetch`."""
        python, source = server.read_python(), self._request.python
        path = self._request.cache / python.sha256
        path.parent.mkdir(parents=True, exist_ok=True)
        if source is not None:
            if (sha256 := file_sha256(source)) != python.sha256:
                raise Invalid(
                    f"its sha256 is {sha256}, expected {python.sha256}", code="checksum_mismatch", path=str(source)
                )
            shutil.copyfile(source, path)
        elif not path.exists():
            self._tell(f"downloading Python {python.version} from {python.url}")
            fetch.fetch(python.url, path, python.sha256)
        return path

    def server_parts(self, work: Path) -> Mapping[str, ServerArchive]:
        """Archives of the guest server by their folder in the machine.

        Args:
            work: folder for its packages; emptied before.

        Raises:
            Unavailable: Its packages are not available.
        """
        shutil.rmtree(work, ignore_errors=True)
        server.install_packages(work, server.read_python())
        packages, sources = server.archive(work, server.PURE), server.archive(server.GUEST, inside=server.GUEST.name)
        return {
            "python": ServerArchive("python.zip", self.python(), server.read_python().sha256),
            "site": ServerArchive("site.zip", packages, hashlib.sha256(packages).hexdigest()),
            "server": ServerArchive("server.zip", sources, hashlib.sha256(sources).hexdigest()),
        }

    def recipe(self) -> tuple[str, ...]:
        """Text that changes with programs or the guest server, computed without downloads."""
        programs = [program.model_dump_json() for program in self._plan.programs.programs]
        parts = (server.archive(server.GUEST), server.LOCK.read_bytes(), server.FILE.read_bytes())
        return (*programs, *(hashlib.sha256(part).hexdigest() for part in parts))
