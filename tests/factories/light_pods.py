"""Pods without QEMU: the real supervisor, its door and volumes in a thread, and guests that only answer.

For tests of the traffic between workers and a cluster. Machines are tested with `vm_pods`.
"""

import base64
import dataclasses
import itertools
import selectors
import socket
import tempfile
import threading
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from tests.factories.light_guest import SCREEN, LightGuest
from tests.factories.machine_images import write_small_image
from tests.factories.vm_hosts import ACCELERATED
from worker.qemu import template
from worker.qemu.access_gate import AccessGate
from worker.qemu.runtime_dir import RuntimeDir
from worker.qemu.slot import CLONE, StartRequest, VmSlot
from worker.qemu.supervisor import SupervisorSession
from worker.qemu.volumes import Volumes

PORT = 7070
IMAGE = "light"
HOST = {"qemu": "none", "type": "pc-q35-7.2", "acceleration": ACCELERATED.to_json(), "processor": "", "uefi": False}
Json = dict[str, Any]
Secrets = Callable[[str, str], Mapping[str, str] | None]


@dataclasses.dataclass
class _Light:
    """A machine that is a guest's thread; see `worker.qemu.slot.RunningVm` and `Qemu`."""

    guest: LightGuest
    reported: bool = True
    pid: int = 0
    seconds: dict[str, float] = dataclasses.field(default_factory=dict)

    @property
    def port(self) -> int:
        return self.guest.port

    @property
    def qemu(self) -> "_Light":
        return self


class _Guests(VmSlot):
    """Holds guests instead of machines. A template's memory is its guest's secret."""

    def __init__(self, address: str) -> None:
        self._address, self._names = address, itertools.count(1)
        self.machines: dict[str, Any] = {}

    def start(self, wanted: StartRequest) -> str:
        cloned = wanted.kind == CLONE
        secret = (wanted.place / template.MEMORY).read_text() if cloned else wanted.secret
        name = f"m{next(self._names)}"
        self.machines[name] = _Light(LightGuest(self._address, secret))
        return name

    def freeze(self, name: str, place: Path) -> list[Path]:
        files = [place / path for path in (template.MEMORY, template.STATE, template.DISK)]
        for path in files:
            path.write_text(self.machines[name].guest.secret)
        self.end(name)
        return files

    def private_bytes(self, name: str) -> int:
        return len(name)

    def end(self, name: str) -> None:
        machine = self.machines.pop(name, None)
        if machine is not None:
            machine.guest.close()


class _Supervisor(SupervisorSession):
    def _facts(self, accelerator: str) -> Json:
        return HOST


class LightPod:
    """A pod's process; see `tests.fakes.kubernetes.processes.ContainerProcess`."""

    def __init__(self, images: Path, secrets: Secrets, pod: Json, address: str) -> None:
        self._images, self._secrets, self._address = images, secrets, address
        volumes = pod["spec"]["volumes"]
        name = next(volume["secret"]["secretName"] for volume in volumes if "secret" in volume)
        self._key = (pod["metadata"]["namespace"], name)
        env = {variable["name"]: variable["value"] for variable in pod["spec"]["containers"][0]["env"]}
        self._fence = int(env["DESKARENA_POD_FENCE"])
        self._folder = tempfile.TemporaryDirectory(prefix="light-")
        self._listener: socket.socket | None = None
        self._line: socket.socket | None = None
        self._thread = threading.Thread(target=self._serve, name="light pod", daemon=True)
        self._token, self._stopped = "", False

    def poll(self) -> int | None:
        """Its exit code once it has ended; it starts when its Secret exists."""
        if self._stopped:
            return 0
        token = self._secrets(*self._key) if self._listener is None else None
        if token is not None:
            self._token = base64.b64decode(token["token"]).decode()
            self._listener = socket.create_server((self._address, PORT))
            self._thread.start()
        return None

    def ready(self) -> bool:
        return self._listener is not None

    def output(self) -> str:
        return ""

    def stop(self, seconds: float) -> int:
        """Ends it and its guests."""
        self._stopped = True
        for connection in (self._listener, self._line):
            if connection is not None:
                with suppress(OSError):
                    connection.shutdown(socket.SHUT_RDWR)
        if self._thread.ident is not None:
            self._thread.join(max(seconds, 5.0))
        self._folder.cleanup()
        return 0

    def _serve(self) -> None:
        assert self._listener is not None
        with self._listener as listener:
            door, waiting = AccessGate(listener, self._token, self._fence), None
            while not self._stopped:
                waiting = self._one(door, waiting or self._entered(door))

    def _entered(self, door: AccessGate) -> socket.socket | None:
        """The next connection; None when the pod ends."""
        while not self._stopped:
            with selectors.DefaultSelector() as selector:
                for listener in door.sockets():
                    selector.register(listener, selectors.EVENT_READ)
                ready = [key.fileobj for key, _ in selector.select(0.2)]
            if not self._stopped and (entered := door.turn(ready)) is not None:
                return entered
        return None

    def _one(self, door: AccessGate, line: socket.socket | None) -> socket.socket | None:
        if line is None:
            return None
        self._line = line
        place, guests = RuntimeDir(), _Guests(self._address)
        volumes = Volumes(self._images, Path(self._folder.name) / "templates")
        supervisor = _Supervisor(line, guests, place, volumes=volumes, door=door)
        try:
            with line:
                supervisor.run()
        finally:
            place.remove()
            for name in list(guests.machines):
                guests.end(name)
        return supervisor.successor


@dataclasses.dataclass
class LightPods:
    """Starts pods with one volume of images, or with those of the claims they name; `started` in order."""

    images: Path
    secrets: Secrets
    started: list[LightPod] = dataclasses.field(default_factory=list)
    claims: dict[str, Path] = dataclasses.field(default_factory=dict)

    def start(self, pod: Json, address: str) -> LightPod:
        named = next(volume for volume in pod["spec"]["volumes"] if volume["name"] == "images")
        claim = named.get("persistentVolumeClaim", {}).get("claimName", "")
        pod_started = LightPod(self.claims.get(claim, self.images), self.secrets, pod, address)
        self.started.append(pod_started)
        return pod_started


def write_light_image(images: Path, name: str = IMAGE) -> None:
    """An image of such guests into a folder."""
    size = {"width": SCREEN.width, "height": SCREEN.height}
    write_small_image(images, name, screens=[size], memory_mib=128, cpus=1, guest_api="1.1")


@contextmanager
def light_pods(secrets: Secrets) -> Iterator[LightPods]:
    """Pods that are gone at the end. Args: secrets: gives the data of a Secret by namespace and name."""
    with tempfile.TemporaryDirectory(prefix="light-images-") as folder:
        write_light_image(Path(folder))
        pods = LightPods(Path(folder), secrets)
        yield pods
        for pod in pods.started:
            pod.stop(0.0)
