"""What a build would do: read from the media and lists, checked as far as can be without starting anything."""

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
"""Folders of virtio-win: disk, network, screen, random numbers, and the device that tells of a blue screen."""
DRIVER_FOLDER = "$WinPEDriver$"
"""Windows Setup loads all drivers below it, and keeps them.
https://learn.microsoft.com/troubleshoot/windows-client/setup-upgrade-and-drivers/limitations-dollar-sign-winpedriver-dollar-sign
"""
_OURS = "deskarena"
_MOST_FURTHER_MEDIA = 2


@dataclass(frozen=True)
class BuildRequest:
    """What somebody asks for.

    Attributes:
        name: of the image.
        iso: Windows' install medium.
        virtio: virtio-win's medium.
        brought: folder of the user's own installers.
        lists: of the user's own programs.
        without: ids of programs that are left out.
        python: a file in the place of the guest server's Python; its hash must be that of the list.
        data: DATA; the image lies below `images`, the build below `builds`.
        minutes: that each start of the machine may take.
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
        """Of the build; it may be removed when the image is made."""
        return self.data / "builds" / self.name

    @property
    def image(self) -> Path:
        """Of the image."""
        return self.data / "images" / self.name

    @property
    def cache(self) -> Path:
        """Of installers, under their hashes; all builds share it."""
        return self.data / "builds" / "installers"


class ServerArchive(NamedTuple):
    """An archive of the guest server."""

    name: str
    data: Path | bytes
    sha256: str


@dataclass(frozen=True)
class BuildPlan:
    """A request that can be carried out.

    Attributes:
        edition: that is set up.
        programs: that are installed or there.
        answers: the answer file.
    """

    edition: Edition
    programs: Catalog
    answers: bytes


def make_plan(request: BuildRequest) -> BuildPlan:
    """Reads the media and lists. Starts and writes nothing.

    Raises:
        Invalid: something is wrong; says what and where.
    """
    options = request.options
    edition = edition_of(editions(request.iso), options.edition)
    if edition.languages and options.language not in edition.languages:
        hint = f"It has: {', '.join(edition.languages)}."
        raise Invalid(
            f"this Windows cannot be set up in {options.language}",
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
    if unknown := sorted(set(request.without) - {each.id for each in selection.all()}):
        hint = f"There are: {', '.join(each.id for each in selection.all())}"
        raise Invalid(
            f"no program to leave out is called {', '.join(unknown)}",
            code="invalid_image_plan",
            path="without",
            hint=hint,
        )
    programs = tuple(each for each in selection.programs if each.id not in request.without)
    if len({each.iso for each in programs if each.iso}) > _MOST_FURTHER_MEDIA:
        raise Invalid(
            f"at most {_MOST_FURTHER_MEDIA} programs may come on media of their own",
            code="invalid_image_plan",
            path="programs",
        )
    inbox = tuple(
        each for each in selection.inbox if each.id not in request.without and not (each.client and edition.server)
    )
    return Catalog(programs=programs, inbox=inbox)


def first_content(request: BuildRequest, plan: BuildPlan) -> dict[str, Path | bytes]:
    """What lies on the medium that Windows is set up with, drivers aside: no program, so that it seldom changes."""
    plan_json = json.dumps(machine_plan(request.options, (), []), indent=1).encode()
    return {ANSWERS: plan.answers, f"{_OURS}/start.cmd": _for_windows(SETUP / "start.cmd"), **_common(plan_json)}


def _common(plan_json: bytes) -> dict[str, Path | bytes]:
    scripts = {f"{_OURS}/setup/{path.name}": _for_windows(path) for path in sorted(SETUP.glob("*.ps1"))}
    return {f"{_OURS}/plan.json": plan_json, **scripts}


def second_content(
    request: BuildRequest, installers: tuple[Installer, ...], server: Mapping[str, ServerArchive]
) -> dict[str, Path | bytes]:
    r"""What lies on the medium that programs are installed from.

    Args:
        request: of the build.
        installers: of the programs.
        server: parts of the guest server by their folder below `C:\Deskarena`.
    """
    parts = [{"to": folder, "file": part.name, "sha256": part.sha256} for folder, part in server.items()]
    plan_json = json.dumps(machine_plan(request.options, installers, parts), indent=1).encode()
    return {
        **_common(plan_json),
        **{f"{_OURS}/server/{part.name}": part.data for part in server.values()},
        **{f"{_OURS}/programs/{each.program.installer}": each.path for each in installers if not each.program.medium},
    }


def _for_windows(script: Path) -> bytes:
    """A script with Windows' line ends, without which cmd.exe misses labels and reads past the end of long lines."""
    return script.read_bytes().replace(b"\n", b"\r\n")


def machine_plan(
    options: WindowsBuildOptions, installers: tuple[Installer, ...], parts: list[dict[str, str]]
) -> dict[str, Any]:
    """What the scripts read inside Windows. They are strict: every field is there, empty if need be."""
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
        "programs": [_installer_payload(each) for each in installers],
        "server": {
            "parts": parts,
            # To all sides, inside of the machine: QEMU leads one port to it.
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
        # Of a medium of its own, the whole was checked on the host.
        "sha256": "" if program.medium else installer.sha256,
    }


def summary(request: BuildRequest, plan: BuildPlan) -> Iterator[str]:
    """The plan for a person: what is made of what, and what is still missing."""
    options, edition = request.options, plan.edition
    yield f"image {request.name}: {edition.name} (build {edition.build}), user {options.user}, {options.firmware}"
    size = f"{options.screen.width}x{options.screen.height}"
    yield f"machine: {options.memory_mib} MiB, {options.cpus} processors, disk of {options.disk_gib} GiB, screen {size}"
    absent = {program.id for program in fetch.missing(plan.programs.programs, request.brought)}
    for program in plan.programs.programs:
        here = program.brought or (request.cache / program.sha256).is_file()
        state = "there" if here else f"fetched from {program.url}"
        state = f"MISSING: bring {program.iso or program.file}" if program.id in absent else state
        yield f"  installed: {program.name} {program.version} ({program.licence}): {state}"
    for each in plan.programs.inbox:
        yield f"  of Windows: {each.name}"
