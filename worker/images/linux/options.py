"""What a person can choose of a Linux image."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field, field_validator

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen

Variant = Literal["minimal", "full"]
SCREENS = tuple(
    ScreenSize(width=width, height=height)
    for width, height in (
        (1920, 1080), (1280, 720), (1280, 800), (1024, 768), (800, 600), (1366, 768), (1440, 900), (1600, 900),
        (1680, 1050), (1920, 1200), (2560, 1440), (3840, 2160),
    )
)  # fmt: skip
"""QEMU's card shows any size; these are what people and benchmarks ask for."""
_SOURCE = re.compile(r"deb \S.*|[a-z][a-z+]*:/\S+")
_GIB = 2**30
_MEMORY_MIB: Mapping[str, int] = MappingProxyType({"minimal": 1024, "full": 3072})
_DISK: Mapping[str, int] = MappingProxyType({"minimal": 4 * _GIB, "full": 16 * _GIB})


class LinuxBuildOptions(Frozen):
    """Choices of one build; the same choices on the same packages make the same files.

    Attributes:
        variant: `minimal` has what the starter benchmark needs, `full` OSWorld's applications that Debian has, too.
        name: of the image; empty = `linux-` and the variant.
        suite: Debian's release.
        sources: where packages come from: mirrors or lines of a sources.list; none = Debian's own mirror.
        epoch: seconds since 1970; no file of the image is newer.
        cpus: of a machine.
    """

    variant: Variant = "minimal"
    name: str = ""
    suite: str = Field(default="bookworm", pattern=r"^[a-z]{2,20}$")
    sources: tuple[str, ...] = ()
    epoch: int = Field(ge=0)
    cpus: int = Field(default=2, ge=1, le=64)
    memory_mib: int = Field(default=0, ge=0, le=2**20)

    @field_validator("sources")
    @classmethod
    def _known(cls, sources: tuple[str, ...]) -> tuple[str, ...]:
        for source in sources:
            if not _SOURCE.fullmatch(source):
                raise ValueError(f"{source!r} is neither a mirror's address nor a line `deb ...`")
        return sources

    def image_name(self) -> str:
        """The name of the image."""
        return self.name or f"linux-{self.variant}"

    def memory(self) -> int:
        """Memory of a machine in MiB; what the variant needs unless something else was chosen."""
        return self.memory_mib or _MEMORY_MIB[self.variant]

    def disk(self) -> int:
        """Bytes of the disk that the system sees."""
        return _DISK[self.variant]


class BuildSources(Frozen):
    """Where what goes into an image lies in the checkout.

    Attributes:
        scripts: holds the package lists of local desktops.
        linux: holds the image's own lists and files.
        server: the guest server's package.
        site: packages of Python for programs of the desktop.
        home: what a home holds when it is new.
    """

    scripts: Path
    linux: Path
    server: Path
    site: Path
    home: Path

    @property
    def root(self) -> Path:
        """Files of the image, as they lie in it."""
        return self.linux / "root"

    @property
    def init(self) -> Path:
        """The first program of a boot."""
        return self.linux / "init"


def sources_of(checkout: Path) -> BuildSources:
    """Where they lie in a checkout after `make setup`."""
    return BuildSources(
        scripts=checkout / "tools",
        linux=checkout / "vm_images" / "linux",
        server=checkout / "vm_images" / "guest_server",
        site=checkout / ".guest-site",
        home=checkout / "worker" / "local" / "home",
    )
