"""A machine image: the folder that virtual machines are made from, and its description `image.json`.

A builder (`vm_images/linux`, `vm_images/windows`) writes `DATA/images/NAME/` once; machines write to overlays.
`image.json` is written last and atomically, so a folder without it is an unfinished build.
"""

import datetime as dt
import hashlib
import json
import os
import re
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Annotated, Any, Literal, Self

from pydantic import AwareDatetime, Field, StringConstraints, ValidationError, model_validator

from backend.domain.errors import Invalid, NotFound
from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen
from backend.domain.model.validation_words import problem_words

FILE = "image.json"
DEFAULT = "default"
"""As a name: the image in the settings, else the only one."""
NAME = re.compile(r"[a-z0-9][a-z0-9.-]{0,62}")
_MOST_BYTES = 16 * 2**20
_HINT = "docs/internals/machine-images.md says how images are made; a damaged one is removed and built again."

Sha256 = Annotated[str, StringConstraints(pattern=r"^[0-9a-f]{64}$")]
FileName = Annotated[str, StringConstraints(pattern=r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$")]
Line = Annotated[str, StringConstraints(max_length=2000, pattern=r"^[^\x00-\x1f]*$")]


class ImageFile(Frozen):
    """A file of the image's folder.

    Attributes:
        file: its name in the folder, not a path.
        size: bytes.
    """

    file: FileName
    sha256: Sha256
    size: int = Field(gt=0)


class SystemDisk(ImageFile):
    """The system disk, in QEMU's format qcow2.

    Attributes:
        virtual_size: size in bytes as seen by the guest.
    """

    virtual_size: int = Field(gt=0)


class DirectBoot(Frozen):
    """Files for a start without boot loader.

    Attributes:
        command_line: of the kernel, without the run's screen size (see `screen_option`).
        screen_option: appended to the command line, with `{width}` and `{height}` in pixels; may be empty.
    """

    kernel: ImageFile
    initrd: ImageFile
    command_line: Line
    screen_option: Line = ""

    @model_validator(mode="after")
    def _complete(self) -> Self:
        if self.screen_option and not all(part in self.screen_option for part in ("{width}", "{height}")):
            raise ValueError("screen_option must contain {width} and {height}")
        return self

    def line(self, screen: ScreenSize) -> str:
        """The complete command line for a machine with that screen."""
        option = self.screen_option.replace("{width}", str(screen.width)).replace("{height}", str(screen.height))
        return f"{self.command_line} {option}".strip()


class Devices(Frozen):
    """QEMU's devices that the system has drivers for, by QEMU's names.

    Attributes:
        disk: bus of the system disk.
        network: network card.
        display: graphics card; `virtio-*` supports any screen size, `VGA` by its EDID.
        entropy: whether the system has a driver for `virtio-rng-pci`.
    """

    disk: Literal["virtio-blk-pci", "ide-hd", "nvme"] = "virtio-blk-pci"
    network: Literal["virtio-net-pci", "e1000e"] = "virtio-net-pci"
    display: Literal["virtio-vga", "virtio-gpu-pci", "VGA"] = "virtio-vga"
    pointer: Literal["usb-tablet", "virtio-tablet-pci"] = "usb-tablet"
    entropy: bool = True


class Package(Frozen):
    """An installed package.

    Attributes:
        sha256: sha256 of its installer; empty if unknown.
    """

    name: Line = Field(min_length=1)
    version: Line = ""
    sha256: Sha256 | Literal[""] = ""


class MachineImage(Frozen):
    """Content of `image.json`.

    Attributes:
        format: version of this file; only 1 so far.
        name: name of its folder.
        variant: the builder's variant, for example `minimal` or `full`.
        version: the builder's version; differs for different content.
        made_at: time of the build; for a reproducible build, the date of its inputs.
        guest_api: version of its guest API.
        guest_server: sha256 of the guest server's sources; empty if unknown.
        screens: supported sizes in pixels; the first is the default.
        memory_mib, cpus: requirements of a machine.
        firmware: firmware that QEMU starts; `bios` for a direct boot.
        boot: None = the firmware boots from the disk.
        packages: installed packages.
        programs: commands that tasks can start, as `Availability.programs`; also with the version of their program, if
            the builder knows it (`photoshop 26.7`).
    """

    format: Literal[1] = 1
    name: str = Field(pattern=rf"^{NAME.pattern}$")
    os: Literal["linux", "windows"]
    variant: Line = Field(min_length=1)
    version: Line = Field(min_length=1)
    made_at: AwareDatetime
    guest_api: Line = Field(min_length=1)
    guest_server: Sha256 | Literal[""] = ""
    screens: tuple[ScreenSize, ...] = Field(min_length=1, max_length=100)
    memory_mib: int = Field(ge=128, le=2**20)
    cpus: int = Field(ge=1, le=256)
    firmware: Literal["bios", "uefi"]
    disk: SystemDisk
    boot: DirectBoot | None = None
    devices: Devices = Devices()
    packages: tuple[Package, ...] = Field(default=(), max_length=20_000)
    programs: tuple[Line, ...] = Field(default=(), max_length=20_000)

    @model_validator(mode="after")
    def _consistent(self) -> Self:
        if self.name == DEFAULT:
            raise ValueError(f"no image is called {DEFAULT!r}: that name means the chosen one")
        if self.boot is not None and self.firmware != "bios":
            raise ValueError("a direct boot needs firmware bios")
        names = [file.file for file in self.files()]
        if FILE in names or len(set(names)) != len(names):
            raise ValueError("disk, kernel and initrd must be files of their own")
        return self

    def files(self) -> tuple[ImageFile, ...]:
        """All files except image.json, the disk first."""
        return (self.disk, *((self.boot.kernel, self.boot.initrd) if self.boot is not None else ()))

    def digest(self) -> str:
        """Sha256 of `image.json`, which includes the files' hashes: different content, different digest."""
        return hashlib.sha256(self.model_dump_json().encode()).hexdigest()

    def shows(self, screen: ScreenSize) -> bool:
        """Whether a machine of it supports that screen."""
        return screen in self.screens


def read_image(folder: Path) -> MachineImage:
    """Reads an image's description. Checks only names and sizes of its files; see `verify`.

    Raises:
        NotFound: there is no image, or its build is unfinished.
        Invalid: `image.json` is wrong, or a file is missing or has another size; `path` says which.
    """
    file = folder / FILE
    try:
        if file.stat().st_size > _MOST_BYTES:
            raise Invalid(f"larger than {_MOST_BYTES} bytes", code="invalid_image", path=str(file), hint=_HINT)
        image = _parse(file.read_bytes(), file)
    except FileNotFoundError:
        raise NotFound(
            f"{folder} holds no whole image: {FILE} is missing", code="image_not_found", hint=_HINT
        ) from None
    except OSError as error:
        raise Invalid(f"cannot be read: {error.strerror}", code="invalid_image", path=str(file), hint=_HINT) from error
    if image.name != folder.name:
        raise Invalid(
            f"it says {image.name!r}, its folder is called {folder.name!r}",
            code="invalid_image",
            path=f"{file}.name",
            hint=_HINT,
        )
    for image_file in image.files():
        _check_size(folder / image_file.file, image_file)
    return image


def _parse(data: bytes, file: Path) -> MachineImage:
    try:
        return MachineImage.model_validate_json(data)
    except ValidationError as error:
        first = error.errors(include_url=False, include_context=False)[0]
        where = ".".join([str(file), *map(str, first["loc"])])
        raise Invalid(problem_words(first), code="invalid_image", path=where, hint=_HINT) from error


def _check_size(path: Path, expected: ImageFile) -> None:
    try:
        size = path.stat().st_size
    except OSError as error:
        raise Invalid(f"cannot be read: {error.strerror}", code="invalid_image", path=str(path), hint=_HINT) from error
    if size != expected.size:
        raise Invalid(
            f"has {size:,} bytes, {FILE} says {expected.size:,}", code="image_damaged", path=str(path), hint=_HINT
        )


def verify(folder: Path) -> MachineImage:
    """Reads every file of the image and compares its hash; takes as long as reading the disk.

    Raises:
        NotFound, Invalid: as `read_image`, and for a file with different content.
    """
    image = read_image(folder)
    for file in image.files():
        if file_sha256(folder / file.file) != file.sha256:
            raise Invalid(
                f"its content differs from {FILE}", code="image_damaged", path=str(folder / file.file), hint=_HINT
            )
    return image


def file_sha256(path: Path) -> str:
    """Sha256 of a file of any size. Raises OSError."""
    with path.open("rb") as file:
        return hashlib.file_digest(file, "sha256").hexdigest()


def describe_file(path: Path) -> dict[str, Any]:
    """`file`, `sha256` and `size` of a file, for a builder that writes `image.json`. Raises OSError."""
    return {"file": path.name, "sha256": file_sha256(path), "size": path.stat().st_size}


def write_image(folder: Path, image: MachineImage) -> None:
    """Writes `image.json` atomically and makes every file of the image read-only.

    Args:
        folder: already contains the other files.
        image: must have the folder's name.

    Raises:
        Invalid: the folder does not match the description.
        OSError: it cannot be written.
    """
    if image.name != folder.name:
        raise Invalid(
            f"it says {image.name!r}, its folder is called {folder.name!r}", code="invalid_image", path=str(folder)
        )
    for image_file in image.files():
        _check_size(folder / image_file.file, image_file)
        (folder / image_file.file).chmod(0o444)
    text = json.dumps(image.model_dump(mode="json"), indent=2, ensure_ascii=False) + "\n"
    with tempfile.NamedTemporaryFile("w", dir=folder, prefix=".image-", encoding="utf-8", delete=False) as file:
        file.write(text)
        file.flush()
        os.fsync(file.fileno())
    unnamed = Path(file.name)
    unnamed.chmod(0o444)
    unnamed.replace(folder / FILE)


def image_names(images: Path) -> Iterator[str]:
    """Sorted names of the complete images of a folder such as `DATA/images`; empty if the folder is missing."""
    if images.is_dir():
        yield from sorted(
            folder.name for folder in images.iterdir() if NAME.fullmatch(folder.name) and (folder / FILE).exists()
        )


def find_image(images: Path, name: str, *, default: str = "") -> tuple[Path, MachineImage]:
    """The image for a `DesktopSpec`, with its folder.

    Args:
        images: folder of images, such as `DATA/images`.
        name: name of an image, or `default`.
        default: the image in the settings; empty = the only image.

    Raises:
        NotFound: there is no image of that name, or `default` is ambiguous.
        Invalid: it is damaged.
    """
    names = tuple(image_names(images))
    image_name = default if name == DEFAULT else name
    if not image_name:
        if len(names) != 1:
            raise NotFound(
                f"no image is named, and there are {len(names)}{_in_brackets(names)}",
                code="image_not_found",
                hint=_HINT,
            )
        image_name = names[0]
    if image_name not in names:
        raise NotFound(
            f"there is no image {image_name!r}; there are {len(names)}{_in_brackets(names)}",
            code="image_not_found",
            hint=_HINT,
        )
    return images / image_name, read_image(images / image_name)


def _in_brackets(names: tuple[str, ...]) -> str:
    return f" ({', '.join(names)})" if names else ""


def moment(epoch: int) -> dt.datetime:
    """The `made_at` of a reproducible build, from seconds since 1970 (SOURCE_DATE_EPOCH)."""
    return dt.datetime.fromtimestamp(epoch, dt.UTC)
