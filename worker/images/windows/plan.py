"""Plan of a build: read from media and lists, validated as far as possible without starting anything."""

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import Any, NamedTuple

from backend.domain.errors import Invalid
from worker.images.windows import catalog, fetch, powershell
from worker.images.windows.autounattend import FILE as ANSWERS
from worker.images.windows.autounattend import answer_file
from worker.images.windows.autounattend_schema import faults
from worker.images.windows.catalog import Catalog
from worker.images.windows.editions import Edition, edition_of, editions
from worker.images.windows.fetch import Installer
from worker.images.windows.options import WindowsBuildOptions
from worker.images.windows.server import MODULE, PORT, PROXY
from worker.images.windows.settings import SOURCES, read_settings
from worker.qemu.accelerator import AUTO

SETUP = SOURCES / "windows" / "setup"
DRIVERS = ("viostor", "NetKVM", "viogpudo", "viorng", "pvpanic")
"""Folders of virtio-win: disk, network, screen, random numbers, and the device that reports blue screens."""
DRIVER_FOLDER = "$WinPEDriver$"
"""Windows Setup loads all drivers below it and keeps them.

https://learn.microsoft.com/troubleshoot/windows-client/setup-upgrade-and-drivers/limitations-dollar-sign-winpedriver-dollar-sign
"""
_OURS = "deskarena"
_MOST_FURTHER_MEDIA = 2


@dataclass(frozen=True)
class BuildRequest:
    """A user's request.

    Attributes:
        name: of the image.
        iso: Windows' installation medium.
        virtio: virtio-win's medium.
        brought: folder of the user's own installers.
        lists: lists of the user's own programs.
        without: ids of programs to leave out.
        python: replacement file for the guest server's Python; must match the listed hash.
        data: data folder; the image is created in `images`, the build in `builds`.
        minutes: time limit of each start of the machine.
        accelerator: the setting DESKARENA_ACCELERATOR.
    """

    name: str
    iso: Path
    virtio: Path
    options: WindowsBuildOptions
    data: Path
    brought: Path | None = None
    lists: tuple[Path, ...] = ()
    without: tuple[str, ...] = ()
    python: Path | None = None
    minutes: float = 120.0
    accelerator: str = AUTO

    @property
    def folder(self) -> Path:
        """Folder of the build; it may be removed when the image is complete."""
        return self.data / "builds" / self.name

    @property
    def image(self) -> Path:
        """Folder of the image."""
        return self.data / "images" / self.name

    @property
    def cache(self) -> Path:
        """Folder of downloaded installers, named by hash; all builds share it."""
        return self.data / "builds" / "installers"


class ServerArchive(NamedTuple):
    """An archive of the guest server."""

    name: str
    data: Path | bytes
    sha256: str


@dataclass(frozen=True)
class BuildPlan:
    """A validated request.

    Attributes:
        edition: to install.
        programs: to install, and programs of Windows.
        answers: the answer file.
    """

    edition: Edition
    programs: Catalog
    answers: bytes


def make_plan(request: BuildRequest) -> BuildPlan:
    """Reads the media and lists. Starts and writes nothing.

    Raises:
        Invalid: the request is not valid; says what and where.
    """
    options = request.options
    edition = edition_of(editions(request.iso), options.edition)
    if edition.languages and options.language not in edition.languages:
        hint = f"It has: {', '.join(edition.languages)}."
        raise Invalid(
            f"this Windows medium does not support the language {options.language}",
            code="invalid_image_plan",
            path="language",
            hint=hint,
        )
    programs = _programs(request, edition)
    answers = answer_file(options, edition.index, server=edition.server)
    wrong = [f"{ANSWERS}: {fault}" for fault in faults(answers)]
    for script in sorted(SETUP.glob("*.ps1")):
        wrong += [f"{script.name}: {fault}" for fault in powershell.faults(script.read_text(encoding="utf-8"))]
    if wrong:
        raise Invalid("; ".join(wrong), code="invalid_image_plan", path=str(SETUP))
    return BuildPlan(edition, programs, answers)


def _programs(request: BuildRequest, edition: Edition) -> Catalog:
    selection = catalog.programs_in_sets(catalog.read_catalog((catalog.FILE, *request.lists)), request.options.sets)
    if unknown := sorted(set(request.without) - {package.id for package in selection.all()}):
        hint = f"There are: {', '.join(package.id for package in selection.all())}"
        raise Invalid(
            f"unknown programs in --without: {', '.join(unknown)}",
            code="invalid_image_plan",
            path="without",
            hint=hint,
        )
    programs = tuple(program for program in selection.programs if program.id not in request.without)
    if len({program.iso for program in programs if program.iso}) > _MOST_FURTHER_MEDIA:
        raise Invalid(
            f"at most {_MOST_FURTHER_MEDIA} programs may be on separate media",
            code="invalid_image_plan",
            path="programs",
        )
    inbox = tuple(
        package
        for package in selection.inbox
        if package.id not in request.without and not (package.client and edition.server)
    )
    return Catalog(programs=programs, inbox=inbox)


def first_content(request: BuildRequest, plan: BuildPlan) -> dict[str, Path | bytes]:
    """Content of the medium for Windows, without drivers: no programs, so that it rarely changes."""
    plan_json = json.dumps(machine_plan(request.options, (), []), indent=1).encode()
    return {ANSWERS: plan.answers, f"{_OURS}/start.cmd": _for_windows(SETUP / "start.cmd"), **_common(plan_json)}


def _common(plan_json: bytes) -> dict[str, Path | bytes]:
    scripts = {f"{_OURS}/setup/{path.name}": _for_windows(path) for path in sorted(SETUP.glob("*.ps1"))}
    return {f"{_OURS}/plan.json": plan_json, **scripts}


def second_content(
    request: BuildRequest, installers: tuple[Installer, ...], server: Mapping[str, ServerArchive]
) -> dict[str, Path | bytes]:
    r"""Content of the medium for programs.

    Args:
        request: of the build.
        installers: of the programs.
        server: parts of the guest server by folder below `C:\\Deskarena`.
    """
    parts = [{"to": folder, "file": part.name, "sha256": part.sha256} for folder, part in server.items()]
    plan_json = json.dumps(machine_plan(request.options, installers, parts), indent=1).encode()
    return {
        **_common(plan_json),
        **{f"{_OURS}/server/{part.name}": part.data for part in server.values()},
        **{
            f"{_OURS}/programs/{installer.program.installer}": installer.path
            for installer in installers
            if not installer.program.medium
        },
    }


def _for_windows(script: Path) -> bytes:
    """A script with Windows line endings; otherwise cmd.exe misses labels and misreads long lines."""
    return script.read_bytes().replace(b"\n", b"\r\n")


def machine_plan(
    options: WindowsBuildOptions, installers: tuple[Installer, ...], parts: list[dict[str, str]]
) -> dict[str, Any]:
    """Input of the scripts inside Windows. They are strict: every field exists, even if empty."""
    settings = read_settings()
    return {
        "user": options.user,
        "password": options.password.get_secret_value(),
        "also_home": list(options.also_home),
        "settings": {
            "registry": [entry.model_dump(include={"key", "name", "type", "value"}) for entry in settings.registry],
            "commands": [{"run": list(command.run)} for command in settings.commands],
            "services": [{"name": service.name} for service in settings.services],
        },
        "programs": [_installer_payload(installer) for installer in installers],
        "server": {
            "parts": parts,
            # Listens on all interfaces inside the machine: QEMU forwards one port to it.
            "arguments": ["-m", MODULE, "--virtual-machine", "--host", "0.0.0.0", "--port", str(PORT)],  # noqa: S104
            "port": PORT,
            "proxy": PROXY,
        },
    }


def _installer_payload(installer: Installer) -> dict[str, Any]:
    program = installer.program
    fields = {"id", "name", "arguments", "minutes", "to", "there", "path", "medium"}
    return {
        **program.model_dump(mode="json", include=fields | {"registry", "files", "shortcuts"}),
        "kind": program.kind,
        "file": program.file if program.medium else program.installer,
        # A separate medium was verified as a whole on the host.
        "sha256": "" if program.medium else installer.sha256,
    }


def summary(request: BuildRequest, plan: BuildPlan) -> Iterator[str]:
    """Summary of the plan: what is built from what, and what is missing."""
    options, edition = request.options, plan.edition
    yield f"image {request.name}: {edition.name} (build {edition.build}), user {options.user}, {options.firmware}"
    size = f"{options.screen.width}x{options.screen.height}"
    yield f"machine: {options.memory_mib} MiB, {options.cpus} processors, disk of {options.disk_gib} GiB, screen {size}"
    absent = {program.id for program in fetch.missing(plan.programs.programs, request.brought)}
    for program in plan.programs.programs:
        is_present = program.brought or (request.cache / program.sha256).is_file()
        state = "there" if is_present else f"download from {program.url}"
        state = f"MISSING: provide {program.iso or program.file}" if program.id in absent else state
        yield f"  to install: {program.name} {program.version} ({program.licence}): {state}"
    for package in plan.programs.inbox:
        yield f"  part of Windows: {package.name}"
