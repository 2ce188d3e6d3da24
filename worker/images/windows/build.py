"""Builds the image: stages from the user's media to a golden disk that is never written again."""

import hashlib
import json
import shutil
import subprocess
from collections.abc import Callable, Mapping
from datetime import UTC, datetime
from functools import partial
from pathlib import Path
from typing import Any

from backend.domain.errors import Conflict, Unavailable
from backend.domain.machines.machine_image import MachineImage, Package, SystemDisk, describe_file, write_image
from backend.domain.model.run import ScreenSize
from worker.activity import Tracker
from worker.images.checks import CheckResult, table
from worker.images.windows import iso, server
from worker.images.windows.check_list import check_list
from worker.images.windows.inputs import BuildInputs
from worker.images.windows.machine import Build, Disks, MachineSilent, build_machine, with_disk
from worker.images.windows.plan import BuildPlan, BuildRequest, first_content, second_content, summary
from worker.images.windows.stages import Stage, Stages, Tell, folder_lock, logged
from worker.qemu.machine import MachineSpec
from worker.qemu.overlay import empty_overlay
from worker.qemu.plan import Host, machine_of, this_host

VERSION = "1"
"""Version of the builder: changes when the same request produces other content."""
_SCREENS = ((1440, 900), (1920, 1080), (1280, 720), (1280, 800), (1024, 768), (1600, 900))
_CONVERT_SECONDS = 3600.0
Check = Callable[[Build, BuildPlan], tuple[CheckResult, ...]]


class Builder:
    """One build: its folder, files and stages."""

    def __init__(
        self,
        request: BuildRequest,
        plan: BuildPlan,
        tell: Tell,
        *,
        check: Check = check_list,
        tracker: Tracker | None = None,
    ) -> None:
        """Creates the build's folder.

        Args:
            request: user's request.
            plan: of the request.
            tell: prints progress.
            check: runs the check list in a started image.
            tracker: records the current stage and what its machine is waited for.
        """
        self.request, self.plan, self._check, self._tracker = request, plan, check, tracker or Tracker()
        folder = request.folder
        folder.mkdir(parents=True, exist_ok=True)
        self._tell = logged(folder / "build.log", tell)
        self._inputs = BuildInputs(request, plan, self._tell)
        self._first, self._second = folder / "windows.iso", folder / "programs.iso"
        self._empty, self._windows, self._programs, self._disk = (
            folder / f"{name}.qcow2" for name in ("empty", "windows", "programs", "disk")
        )
        self._media, self._installed, self._checks = (
            folder / f"{name}.json" for name in ("media", "installed", "checks")
        )

    def build(self) -> Path:
        """Runs the stages that are not done. Returns the image's folder.

        Raises:
            Conflict: the image exists already, or another build is running.
            Invalid, NotFound, Unavailable: a stage failed; calling it again continues there.
        """
        image = self.request.image
        if (image / "image.json").exists():
            raise Conflict(
                f"the image {image.name} exists already",
                code="image_exists",
                hint="Remove it, or choose another --name.",
            )
        iso.require()
        with folder_lock(self.request.folder):
            for line in summary(self.request, self.plan):
                self._tell(line)
            Stages(self.request.folder, self._tell, self._tracker).run(self.stages())
        return image

    def stages(self) -> tuple[Stage, ...]:
        """All stages in order. Programs come after Windows, which is kept when they change."""
        request, options, inputs = self.request, self.request.options, self._inputs
        machine = (options.firmware, str(options.disk_gib), str(options.memory_mib), str(options.cpus))
        first, second = _words(first_content(request, self.plan)), _words(second_content(request, (), {}))
        windows, programs, check = (
            partial(self._on_host, step) for step in (self._set_windows_up, self._install, self._go_through)
        )
        return (
            Stage("media", "reading the media", inputs.media(), self._read_media, (self._media,)),
            Stage("first", "creating the medium for Windows", first, self._lay_out_first, (self._first,)),
            Stage("windows", "installing Windows", machine, windows, (self._windows, self._empty)),
            Stage("second", "creating the medium for programs", (*second, *inputs.recipe()), self._lay_out_second,
                  (self._second, self._installed)),
            Stage("programs", "installing programs", (), programs, (self._programs,)),
            Stage("disk", "writing the golden disk", (), self._flatten, (self._disk,)),
            Stage("check", "running the check list", (), check, (self._checks,)),
            Stage("image", "writing the manifest", (VERSION,), self._describe, (request.image / "image.json",)),
        )  # fmt: skip

    # --- media ---

    def _read_media(self) -> None:
        _write_packages(self._media, self._inputs.media_packages())

    def _lay_out_first(self) -> None:
        drivers = self._inputs.drivers(self.request.folder / "drivers")
        iso.write_disc(self._first, {**first_content(self.request, self.plan), **drivers})

    def _lay_out_second(self) -> None:
        installers, parts = self._inputs.installers(), self._inputs.server_parts(self.request.folder / "site")
        iso.write_disc(self._second, second_content(self.request, installers, parts))
        _write_packages(self._installed, self._inputs.program_packages())

    # --- machines ---

    def machine(self, host: Host) -> MachineSpec:
        """The machine as the image will define it, on an empty disk."""
        disk = SystemDisk(file=self._empty.name, sha256="0" * 64, size=1, virtual_size=self._size)
        return machine_of(self.request.folder, self._image(disk, ()), self.request.options.screen, host)

    @property
    def _size(self) -> int:
        return self.request.options.disk_gib * 2**30

    def _image(self, disk: SystemDisk, packages: tuple[Package, ...]) -> MachineImage:
        options, screens = self.request.options, [ScreenSize(width=width, height=height) for width, height in _SCREENS]
        return MachineImage(
            name=self.request.name,
            os="windows",
            variant="-".join(options.sets),
            version=VERSION,
            made_at=datetime.now(UTC),
            guest_api=server.api_version(),
            guest_server=hashlib.sha256(server.archive(server.GUEST)).hexdigest(),
            screens=tuple(dict.fromkeys([options.screen, *screens])),
            memory_mib=options.memory_mib,
            cpus=options.cpus,
            firmware=options.firmware,
            disk=disk,
            packages=packages,
            programs=tuple(dict.fromkeys(word for program in self.plan.programs.all() for word in program.provides())),
        )

    def _set_windows_up(self, host: Host) -> None:
        # An interrupted installation cannot be continued: Windows would boot into an error. Its layers on top are
        # useless, too.
        for stale in (self._windows, *self.request.folder.glob("layer-*.qcow2")):
            _remove(stale)
        self._empty.write_bytes(empty_overlay(self._size))
        media = (self.request.iso, self._first)
        uefi = self.request.options.firmware == "uefi"
        self._run(host, "windows", Disks(self._windows, None, media), press_keys=uefi)

    def _install(self, host: Host) -> None:
        # Programs are recorded inside Windows, too, so a layer of the same Windows and medium continues.
        key = json.loads((self.request.folder / "second.done").read_text())["key"]
        layer = self.request.folder / f"layer-{key[:16]}.qcow2"
        for stale in self.request.folder.glob("layer-*.qcow2"):
            # One that was cut off during shutdown has lost its scheduled task.
            if stale != layer or _ending(layer).exists():
                _remove(stale)
        settings = self._windows.with_suffix(".vars")
        if settings.exists() and not layer.exists():
            # They store the location of Windows' boot loader.
            shutil.copyfile(settings, layer.with_suffix(".vars"))
        further = dict.fromkeys(installer.path for installer in self._inputs.installers() if installer.program.medium)
        media = (self._second, *further)
        self._run(host, "programs", Disks(layer, self._windows, media), ending=_ending(layer).touch)
        layer.replace(self._programs)
        _ending(layer).unlink()

    def _on_host(self, step: Callable[[Host], None]) -> None:
        """Runs a step with this host's accelerator; retries once without KVM if no machine starts with it."""
        host = this_host(self.request.accelerator)
        try:
            step(host)
        except MachineSilent as error:
            if not host.chose_kvm:
                raise
            self._tell(f"the machine did not start with KVM ({error}); retrying without")
            step(host.as_emulated(f"the build's machine did not boot with KVM: {error}"))

    def _run(
        self,
        host: Host,
        phase: str,
        disks: Disks,
        *,
        press_keys: bool = False,
        ending: Callable[[], None] = lambda: None,
    ) -> None:
        folder = self.request.folder
        if host.emulated:
            self._tell(f"this will take hours: {host.speed}")
        self._tell(f"to watch, connect a VNC viewer to the socket {folder / 'vnc'}")
        with build_machine(self.machine(host), disks, folder, self._tracker) as machine:
            try:
                seconds = self.request.minutes * 60
                machine.until_off(phase, seconds=seconds, press_keys=press_keys, tell=self._tell, ending=ending)
            except Unavailable:
                machine.picture(folder / "last-screen.png")
                self._tell(f"last picture of the screen: {folder / 'last-screen.png'}")
                raise

    def _flatten(self) -> None:
        layers: dict[str, Any] | None = None
        for path in (self._empty, self._windows, self._programs):
            layers = {"driver": "qcow2", "file": {"driver": "file", "filename": str(path)}, "backing": layers}
        partial = self._disk.with_suffix(".part")
        words = ["qemu-img", "convert", "-O", "qcow2", f"json:{json.dumps(layers)}", str(partial)]
        result = subprocess.run(words, capture_output=True, text=True, timeout=_CONVERT_SECONDS, check=False)
        if result.returncode:
            raise Unavailable(f"qemu-img failed: {result.stderr.strip()[-500:]}", code="windows_build_failed")
        partial.replace(self._disk)

    # --- the end ---

    def _go_through(self, host: Host) -> None:
        overlay = self.request.folder / "check.qcow2"
        _remove(overlay)
        machine = with_disk(self.machine(host), self._disk)
        try:
            with build_machine(machine, Disks(overlay, None, ()), self.request.folder, self._tracker) as running:
                lines = self._check(running, self.plan)
        finally:
            _remove(overlay)
        for line in table(lines).splitlines():
            self._tell(f"  {line}")
        failed = [line.name for line in lines if not line.ok]
        if failed:
            raise Unavailable(
                f"{len(failed)} of {len(lines)} checks failed: {'; '.join(failed)}", code="windows_build_failed"
            )
        _write(self._checks, [line.model_dump() for line in lines])

    def _describe(self) -> None:
        image, folder = self.request.image, self.request.folder
        image.mkdir(parents=True, exist_ok=True)
        # A hard link if possible: until image.json exists, the stage can be repeated.
        disk = image / "disk.qcow2"
        disk.unlink(missing_ok=True)
        try:
            disk.hardlink_to(self._disk)
        except OSError:
            shutil.copyfile(self._disk, disk)
        entries = [load for file in (self._media, self._installed) for load in json.loads(file.read_text())]
        packages = tuple(Package.model_validate(entry) for entry in entries)
        write_image(image, self._image(SystemDisk(**describe_file(disk), virtual_size=self._size), packages))
        # From now on only the image counts; Windows' own layer stays, for an image with other programs.
        for path in (self._disk, self._programs, *folder.glob("layer-*")):
            path.unlink(missing_ok=True)


def _ending(layer: Path) -> Path:
    """Exists once Windows has reported its final shutdown."""
    return layer.with_suffix(".ending")


def _remove(layer: Path) -> None:
    for stale in (layer, layer.with_suffix(".vars"), _ending(layer)):
        stale.unlink(missing_ok=True)


def _words(files: Mapping[str, Path | bytes]) -> tuple[str, ...]:
    """A medium's files with hashes, as inputs of a stage."""
    own = {path: data for path, data in files.items() if isinstance(data, bytes)}
    return tuple(f"{path} {hashlib.sha256(data).hexdigest()}" for path, data in own.items())


def _write_packages(file: Path, packages: list[Package]) -> None:
    _write(file, [package.model_dump() for package in packages])


def _write(file: Path, value: object) -> None:
    partial = file.with_suffix(".part")
    partial.write_text(json.dumps(value, indent=1))
    partial.replace(file)
