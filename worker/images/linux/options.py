"""Options of a Linux image."""

import re
from collections.abc import Mapping
from pathlib import Path
from types import MappingProxyType
from typing import Literal

from pydantic import Field, field_validator

from backend.domain.model.run import ScreenSize
from backend.domain.model.task import Frozen
from backend.domain.model.units import GIB

Variant = Literal["minimal", "full"]
SCREENS = tuple(
    ScreenSize(width=width, height=height)
    for width, height in (
        (1920, 1080), (1280, 720), (1280, 800), (1024, 768), (800, 600), (1366, 768), (1440, 900), (1600, 900),
        (1680, 1050), (1920, 1200), (2560, 1440), (3840, 2160),
    )
)  # fmt: skip
"""QEMU's graphics card supports any size; these are the common ones."""
_SOURCE = re.compile(r"deb \S.*|[a-z][a-z+]*:/\S+")
_MEMORY_MIB: Mapping[str, int] = MappingProxyType({"minimal": 1024, "full": 3072})
_DISK: Mapping[str, int] = MappingProxyType({"minimal": 4 * GIB, "full": 16 * GIB})


class LinuxBuildOptions(Frozen):
    """Options of one build; the same options and packages produce the same files.

    Attributes:
        variant: `minimal` has the applications of the starter benchmark, `full` also OSWorld's that Debian packages.
        name: of the image; empty = `linux-` and the variant.
        suite: Debian release.
        sources: mirrors or lines of a sources.list; none = Debian's own mirror.
        epoch: seconds since 1970; maximum timestamp of files.
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
    def _check_sources(cls, sources: tuple[str, ...]) -> tuple[str, ...]:
        for source in sources:
            if not _SOURCE.fullmatch(source):
                raise ValueError(f"{source!r} is neither a mirror's address nor a line `deb ...`")
        return sources

    def image_name(self) -> str:
        """The name of the image."""
        return self.name or f"linux-{self.variant}"

    def memory(self) -> int:
        """Memory of a machine in MiB (default: as the variant needs)."""
        return self.memory_mib or _MEMORY_MIB[self.variant]

    def disk(self) -> int:
        """Size of the disk in bytes."""
        return _DISK[self.variant]


class BuildSources(Frozen):
    """Paths in the checkout from which an image is built.

    Attributes:
        scripts: folder with the package lists of local desktops.
        linux: folder with the image's own lists and files.
        server: the guest server's package.
        site: Python packages for programs of the desktop.
        home: template of a home.
    """

    scripts: Path
    linux: Path
    server: Path
    site: Path
    home: Path

    @property
    def root(self) -> Path:
        """Files of the image, laid out as in the image."""
        return self.linux / "root"

    @property
    def init(self) -> Path:
        """First program of the boot."""
        return self.linux / "init"


def sources_of(checkout: Path) -> BuildSources:
    """Paths in a checkout after `make setup`."""
    return BuildSources(
        scripts=checkout / "tools",
        linux=checkout / "vm_images" / "linux",
        server=checkout / "vm_images" / "guest_server",
        site=checkout / ".guest-site",
        home=checkout / "worker" / "local" / "home",
    )
