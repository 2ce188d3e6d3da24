"""Where machines are made: the templates and images that lie there, on this host or in a pod."""

import time
from collections.abc import Iterator, Mapping
from contextlib import AbstractContextManager, contextmanager, suppress
from dataclasses import asdict, dataclass, field
from pathlib import Path
from threading import Event
from typing import Protocol

from backend.domain.errors import ClusterLost, DeskarenaError
from backend.domain.machines.machine_image import MachineImage, verify
from worker.activity import Tracker
from worker.qemu.client import SupervisorClient, SupervisorError
from worker.qemu.remote import RemoteSupervisor
from worker.qemu.templates import Template, Templates

_LOOK_SECONDS = 1.0
_MAKING_SECONDS = 1200.0
"""For which a pod waits until another one of its node has made the template that both want."""


class ImageChanged(ClusterLost):
    """The image is not what it was when it was made: no machine of it begins where the others did."""

    code = "image_changed"


@dataclass(frozen=True)
class StoredTemplate:
    """What is said of a template that was made; as in `Template`."""

    key: str
    image: str
    screen: tuple[int, int]
    secret: str
    seconds: Mapping[str, float]
    why_emulated: str = ""


class TemplateStore(Protocol):
    """What lies where machines are made. Every call may raise OSError or SupervisorError."""

    def find(self, key: str) -> Template | None:
        """The template of that key."""
        ...

    def making(self, key: str) -> AbstractContextManager[Path]:
        """Waits until nobody else makes it, and gives an empty folder to make it in. Look again first."""
        ...

    def keep(self, place: Path, what: StoredTemplate) -> Template:
        """Gives what was made its name and removes those that it replaces. Within `making`."""
        ...

    def check(self, folder: Path, image: MachineImage) -> None:
        """Reads all files of an image. Raises ImageChanged: they are not those that were made."""
        ...


@dataclass(frozen=True)
class VmHost:
    """Where machines of a slot are made: who holds them, and what lies there.

    Attributes:
        where: that is: a pod's UID; empty = this host.
        tracker: is told what is being done there.
    """

    supervisor: SupervisorClient
    stock: TemplateStore
    where: str = ""
    tracker: Tracker = field(default_factory=Tracker)


class LocalTemplateStore:
    """Of this host. See `TemplateStore`."""

    def __init__(self, templates: Templates) -> None:
        """Touches nothing yet."""
        self._templates = templates
        self.find, self.making = templates.find, templates.making

    def keep(self, place: Path, what: StoredTemplate) -> Template:
        """See `TemplateStore`."""
        template = self._templates.keep(place, **vars(what))
        self._templates.replace(template)
        return template

    def check(self, folder: Path, image: MachineImage) -> None:  # noqa: ARG002 - the folder says it itself.
        """See `TemplateStore`."""
        try:
            verify(folder)
        except DeskarenaError as error:
            raise ImageChanged(f"the image {folder.name} was altered: {error}") from error


class PodTemplateStore:
    """Of a pod, through its supervisor. See `TemplateStore`."""

    def __init__(self, supervisor: RemoteSupervisor) -> None:
        """Asks nothing yet."""
        self._supervisor = supervisor
        self.find = supervisor.find

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        """See `TemplateStore`."""
        deadline = time.monotonic() + _MAKING_SECONDS
        while not (place := self._supervisor.make(key)):
            if time.monotonic() > deadline:
                raise SupervisorError("another pod has been making the template for too long")
            Event().wait(_LOOK_SECONDS)
        try:
            yield Path(place)
        finally:
            with suppress(SupervisorError):
                self._supervisor.made(key)

    def keep(self, place: Path, what: StoredTemplate) -> Template:
        """See `TemplateStore`."""
        return self._supervisor.keep({"place": str(place), **asdict(what)})

    def check(self, folder: Path, image: MachineImage) -> None:
        """See `TemplateStore`."""
        files = image.files()
        hashes = self._supervisor.hashes(str(folder), [each.file for each in files])
        altered = [each.file for each in files if hashes.get(each.file) != each.sha256]
        if altered:
            raise ImageChanged(f"the image {image.name} was altered: {altered[0]} has another content")
