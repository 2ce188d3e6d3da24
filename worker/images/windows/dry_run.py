"""Prints what a build would do and creates our media from local files, without starting or downloading anything."""

from collections.abc import Mapping
from pathlib import Path

from backend.domain.machines.machine_image import file_sha256
from worker.images.windows import fetch, iso, server
from worker.images.windows.build import Builder
from worker.images.windows.fetch import Installer
from worker.images.windows.inputs import BuildInputs
from worker.images.windows.plan import BuildPlan, BuildRequest, ServerArchive, first_content, second_content, summary
from worker.images.windows.stages import Tell
from worker.qemu.acceleration import Acceleration, AccelerationReason
from worker.qemu.arguments import arguments
from worker.qemu.machine import TCG, MachineFiles
from worker.qemu.plan import Host


def dry_run(request: BuildRequest, plan: BuildPlan, tell: Tell) -> None:
    """Prints line by line; the media are `dry-run-*.iso` in the build's folder.

    Raises:
        Invalid, Unavailable: a file is not suitable, or a tool is missing.
    """
    iso.require()
    builder = Builder(request, plan, tell)
    for line in summary(request, plan):
        tell(line)
    for number, stage in enumerate(builder.stages(), start=1):
        tell(f"stage {number}, {stage.name}: {stage.title}")
    # The accelerator does not matter here, only the machine's devices.
    machine = builder.machine(
        Host("", "q35", Acceleration(accelerator=TCG, reason=AccelerationReason.SET, detail=""), "")
    )
    tell(
        f"machine: {' '.join(arguments(machine, MachineFiles(disk='empty.qcow2', overlay='windows.qcow2'), monitor=3))}"
    )
    drivers = BuildInputs(request, plan, tell).drivers(request.folder / "drivers")
    _lay_out(request.folder / "dry-run-windows.iso", {**first_content(request, plan), **drivers}, tell)
    sources = server.archive(server.GUEST, inside=server.GUEST.name)
    parts = {"server": ServerArchive("server.zip", sources, "")}
    _lay_out(request.folder / "dry-run-programs.iso", second_content(request, at_hand(request, plan), parts), tell)


def _lay_out(target: Path, files: Mapping[str, Path | bytes], tell: Tell) -> None:
    for path, source in files.items():
        tell(f"  {path} ({len(source) if isinstance(source, bytes) else source.stat().st_size} bytes)")
    iso.write_disc(target, files)
    tell(f"created {target} ({target.stat().st_size} bytes)")


def at_hand(request: BuildRequest, plan: BuildPlan) -> tuple[Installer, ...]:
    """Installers that exist locally."""
    absent = set(fetch.missing(plan.programs.programs, request.brought))
    installers = []
    for program in plan.programs.programs:
        if program.brought and program not in absent and request.brought is not None:
            path = request.brought / (program.iso or program.file)
            installers.append(Installer(program=program, path=path, sha256=file_sha256(path)))
        elif not program.brought and (request.cache / program.sha256).is_file():
            installers.append(Installer(program=program, path=request.cache / program.sha256, sha256=program.sha256))
    return tuple(installers)
