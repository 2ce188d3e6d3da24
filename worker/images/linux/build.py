"""Builds an image step by step and reports progress."""

import hashlib
import os
import subprocess
import tempfile
from collections.abc import Callable, Sequence
from pathlib import Path

from backend.domain.errors import ClusterLost, Conflict, Invalid
from backend.domain.machines.machine_image import (
    FILE,
    NAME,
    Devices,
    DirectBoot,
    ImageFile,
    MachineImage,
    SystemDisk,
    describe_file,
    moment,
    write_image,
)
from worker.activity import Tracker
from worker.images.linux.bootstrap import FACTS, LAYER, bootstrap_command, bootstrap_environment
from worker.images.linux.disk import (
    as_root,
    convert_command,
    format_command,
    inspect_command,
    moments,
    moments_command,
    unpack_command,
)
from worker.images.linux.facts import programs, read_packages
from worker.images.linux.initrd import initrd
from worker.images.linux.kernel import unpacked
from worker.images.linux.layer import digest, write_layer
from worker.images.linux.options import SCREENS, BuildSources, LinuxBuildOptions
from worker.images.linux.packages import package_names
from worker.images.linux.ready import PATH, check, hint_for

COMMAND_LINE = "root=/dev/vda rw quiet loglevel=3 net.ifnames=0 console=tty0 console=ttyS0"
"""The console is on the screen, so that a panic is visible, and on the serial line, where it can be read."""
_PATIENCE = 4 * 3600.0
_TAIL = 4000
_API_VERSION = "API_VERSION = "

Say = Callable[[str], None]


def build(  # noqa: PLR0913 - what is built, and who hears of it
    options: LinuxBuildOptions,
    sources: BuildSources,
    images: Path,
    say: Say,
    *,
    replace: bool = False,
    tracker: Tracker | None = None,
) -> MachineImage:
    """Builds an image in a folder such as `DATA/images`.

    Args:
        options: of the build.
        sources: contents besides packages.
        images: folder of images.
        say: prints progress.
        replace: an existing image of that name is replaced once the new one is complete.
        tracker: records the current stage.

    Raises:
        Conflict: An image of that name exists.
        Invalid: The name is not valid.
        ClusterLost: the image cannot be built here; the message says what is missing or has a program's output.
        OSError: a file cannot be read or written.
    """
    target = images / options.image_name()
    if not NAME.fullmatch(target.name):
        raise Invalid(
            f"{target.name!r} is not a valid image name",
            code="invalid_name",
            path="name",
            hint="Use a-z, 0-9, . and -.",
        )
    if (target / FILE).exists() and not replace:
        raise Conflict(
            f"the image {target.name} exists already",
            code="image_exists",
            hint="Replace it with --replace, or choose another name with --name.",
        )
    images.mkdir(parents=True, exist_ok=True)
    check(options.variant, images, root=os.geteuid() == 0)
    with tempfile.TemporaryDirectory(prefix=".building-", dir=images) as folder:
        image = _Build(options, sources, Path(folder), target.name, say, tracker or Tracker()).run()
        _into_place(Path(folder) / target.name, target, Path(folder))
    return image


def _into_place(image: Path, target: Path, folder: Path) -> None:
    """Swaps the folders; running machines of the old image keep its files open."""
    if target.exists():
        target.rename(folder / "former")
    image.rename(target)


class _Build:
    def __init__(  # noqa: PLR0913, PLR0917 - as `build`
        self, options: LinuxBuildOptions, sources: BuildSources, folder: Path, name: str, say: Say, tracker: Tracker
    ) -> None:
        self._tracker = tracker
        self._options, self._sources, self._folder, self._say = options, sources, folder, say
        self._image, self._root = folder / name, folder / "root"
        self._env = {**bootstrap_environment(options, PATH), "TMPDIR": tempfile.gettempdir()}

    def run(self) -> MachineImage:
        self._image.mkdir()
        self._root.mkdir()
        packages = package_names(self._sources, self._options.variant)
        write_layer(self._folder / LAYER, self._sources, self._options.epoch)
        command = bootstrap_command(self._options, self._sources, packages, self._folder)
        self._call("packages", f"installing {len(packages)} packages and their dependencies", command)
        content = _sha256(self._folder / "root.tar")
        self._fill(content)
        return self._describe(content)

    def _fill(self, content: str) -> None:
        """Creates kernel, initrd and disk from the packages' files."""
        root, state = os.geteuid() == 0, self._folder / "owners"
        state.touch()
        archive, raw = self._folder / "root.tar", self._folder / "disk.raw"
        self._call(
            "unpack", "unpacking the file system", as_root(unpack_command(archive, self._root), state, root=root)
        )
        archive.unlink()
        self._say("creating kernel and initrd")
        (self._image / "initrd.img").write_bytes(initrd(self._root, self._sources.init))
        (self._image / "vmlinux").write_bytes(unpacked(_kernel(self._root).read_bytes()))
        command = format_command(self._root, raw, self._options.disk(), content)
        self._call("disk", "creating the disk", as_root(command, state, root=root))
        self._settle_moments(raw)
        self._call("convert", "converting it to QEMU's format", convert_command(raw, self._image / "disk.qcow2"))

    def _settle_moments(self, raw: Path) -> None:
        """Replaces all timestamps of the build in the disk.

        Raises:
            ClusterLost: A timestamp could not be set.
        """
        commands = self._folder / "moments"
        commands.write_text(moments(self._call("count", "counting files", inspect_command(raw)), self._options.epoch))
        output = self._call("date", "setting timestamps", moments_command(raw, commands))
        if wrong := [line for line in output.splitlines() if line and not line.startswith("debugfs")]:
            raise ClusterLost(f"debugfs could not set timestamps: {wrong[0]}", code="image_build_failed")

    def _describe(self, content: str) -> MachineImage:
        self._say("hashing files")
        options, files = self._options, {path.name: describe_file(path) for path in self._image.iterdir()}
        image = MachineImage(
            name=self._image.name,
            os="linux",
            variant=options.variant,
            version=f"{options.suite}-{content[:12]}",
            made_at=moment(options.epoch),
            guest_api=_api_version(self._sources.server),
            guest_server=digest(self._sources.server),
            screens=SCREENS,
            memory_mib=options.memory(),
            cpus=options.cpus,
            firmware="bios",
            disk=SystemDisk(**files["disk.qcow2"], virtual_size=options.disk()),
            boot=DirectBoot(
                kernel=ImageFile(**files["vmlinux"]), initrd=ImageFile(**files["initrd.img"]), command_line=COMMAND_LINE
            ),
            devices=Devices(),
            packages=read_packages((self._folder / FACTS).read_text()),
            programs=programs(self._root),
        )
        write_image(self._image, image)
        return image

    def _call(self, stage: str, doing: str, command: Sequence[str]) -> str:
        """Runs a program quietly and returns its output, which is part of the error if it fails.

        Args:
            stage: code of the stage.
            doing: description of the stage.
            command: program and arguments.

        Raises:
            ClusterLost: It failed.
        """
        self._say(doing)
        with self._tracker.during(stage, doing, subject=f"the image {self._image.name}") as activity:
            output = self._output(doing, command)
        self._say(f"  {self._tracker.seconds(activity):.0f} s")
        return output

    def _output(self, doing: str, command: Sequence[str]) -> str:
        try:
            result = subprocess.run(
                command,
                env=self._env,
                cwd=self._folder,
                stdin=subprocess.DEVNULL,
                stdout=subprocess.PIPE,
                stderr=subprocess.STDOUT,
                timeout=_PATIENCE,
                check=False,
            )
        except subprocess.TimeoutExpired:
            raise ClusterLost(
                f"{doing}: {command[0]} took longer than {_PATIENCE:g} s", code="image_build_failed"
            ) from None
        output = result.stdout.decode("utf-8", "replace")
        if result.returncode:
            problem = f"{command[0]} failed with exit code {result.returncode}:\n{output[-_TAIL:].strip()}"
            raise ClusterLost(problem, code="image_build_failed", hint=hint_for(output))
        return output


def _kernel(root: Path) -> Path:
    kernels = sorted((root / "boot").glob("vmlinuz-*"))
    if len(kernels) != 1:
        raise ClusterLost(f"expected one kernel in the image, found {len(kernels)}", code="image_build_failed")
    return kernels[0]


def _api_version(server: Path) -> str:
    """Version of the guest server, which is not imported."""
    for line in (server / "__init__.py").read_text().splitlines():
        if line.startswith(_API_VERSION):
            return line.removeprefix(_API_VERSION).strip().strip('"')
    raise ClusterLost(f"{server} has no API version", code="image_build_failed")


def _sha256(path: Path) -> str:
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()
