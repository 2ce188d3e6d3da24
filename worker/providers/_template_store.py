"""Storage of templates and images, on this host or in a pod."""

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
"""Seconds for which a pod waits until another one on its node has created the template that both need."""


class ImageChanged(ClusterLost):
    """The image's files have changed since it was built: no machine of it may start."""

    code = "image_changed"


@dataclass(frozen=True)
class StoredTemplate:
    """Fields of an existing template; as in `Template`."""

    key: str
    image: str
    screen: tuple[int, int]
    secret: str
    seconds: Mapping[str, float]
    why_emulated: str = ""


class TemplateStore(Protocol):
    """Storage of templates. Every call may raise OSError or SupervisorError."""

    def find(self, key: str) -> Template | None:
        """The template with that key."""
        ...

    def making(self, key: str) -> AbstractContextManager[Path]:
        """Waits until nobody else creates it, and yields an empty folder to create it in. Search again first."""
        ...

    def keep(self, folder: Path, stored: StoredTemplate) -> Template:
        """Stores the finished template and removes those that it replaces. Call within `making`."""
        ...

    def check(self, folder: Path, image: MachineImage) -> None:
        """Verifies the hashes of an image's files. Raises ImageChanged."""
        ...


@dataclass(frozen=True)
class VmHost:
    """Host of a slot's machines: their supervisor and storage.

    Attributes:
        where: a pod's uid; empty = this host.
        tracker: records current activities.
    """

    supervisor: SupervisorClient
    stock: TemplateStore
    where: str = ""
    tracker: Tracker = field(default_factory=Tracker)


class LocalTemplateStore:
    """Storage on this host. See `TemplateStore`."""

    def __init__(self, templates: Templates) -> None:
        self._templates = templates
        self.find, self.making = templates.find, templates.making

    def keep(self, folder: Path, stored: StoredTemplate) -> Template:
        template = self._templates.keep(folder, **vars(stored))
        self._templates.replace(template)
        return template

    def check(self, folder: Path, image: MachineImage) -> None:  # noqa: ARG002 - the folder says it itself.
        try:
            verify(folder)
        except DeskarenaError as error:
            raise ImageChanged(f"the image {folder.name} was modified: {error}") from error


class PodTemplateStore:
    """Storage in a pod, through its supervisor. See `TemplateStore`."""

    def __init__(self, supervisor: RemoteSupervisor) -> None:
        self._supervisor = supervisor
        self.find = supervisor.find

    @contextmanager
    def making(self, key: str) -> Iterator[Path]:
        deadline = time.monotonic() + _MAKING_SECONDS
        while not (folder := self._supervisor.make(key)):
            if time.monotonic() > deadline:
                raise SupervisorError(
                    "another pod has been creating the template for too long", code="template_timeout"
                )
            Event().wait(_LOOK_SECONDS)
        try:
            yield Path(folder)
        finally:
            with suppress(SupervisorError):
                self._supervisor.release(key)

    def keep(self, folder: Path, stored: StoredTemplate) -> Template:
        return self._supervisor.keep({"place": str(folder), **asdict(stored)})

    def check(self, folder: Path, image: MachineImage) -> None:
        files = image.files()
        hashes = self._supervisor.hashes(str(folder), [file.file for file in files])
        altered = [file.file for file in files if hashes.get(file.file) != file.sha256]
        if altered:
            raise ImageChanged(f"the image {image.name} was modified: {altered[0]} has other content")
