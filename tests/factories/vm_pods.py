"""The real process of a pod of virtual machines, started by a fake cluster's kubelet on the pod's own address."""

import base64
import os
import shutil
import socket
import subprocess
import tempfile
from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from tests.factories.pod_image import lay_out

NOBODY = 65534
PORT = 7070
Json = dict[str, Any]


@dataclass
class VmPods:
    """Common parts of all pods: the image's code, and a volume with machine images.

    Attributes:
        root: folder that an ordinary user may read.
        secrets: gives the data of a Secret by namespace and name; None while it is not there.
        started: every process, in order.
    """

    root: Path
    secrets: Callable[[str, str], Mapping[str, str] | None]
    started: "list[VmPod]" = field(default_factory=list)

    @property
    def images(self) -> Path:
        """The volume of machine images."""
        return self.root / "images"

    def shared(self) -> Path:
        """A volume of templates that pods share."""
        folder = self.root / "templates"
        if not folder.exists():
            folder.mkdir()
            if os.getuid() == 0:
                os.chown(folder, NOBODY, NOBODY)
        return folder

    def start(self, pod: Json, address: str) -> "VmPod":
        """A pod's process; see `tests.fakes.kubernetes.processes.Start`."""
        pod_started = VmPod(self, pod, address)
        self.started.append(pod_started)
        return pod_started


class VmPod:
    """`entry.py` with its volumes, as an ordinary user. It starts as soon as its Secret exists."""

    def __init__(self, pods: VmPods, pod: Json, address: str) -> None:
        self._pods, self._address = pods, address
        self._namespace = pod["metadata"]["namespace"]
        self._container = pod["spec"]["containers"][0]
        volumes = pod["spec"]["volumes"]
        self._own_templates = "emptyDir" in next(volume for volume in volumes if volume["name"] == "templates")
        self._secret = next(volume["secret"]["secretName"] for volume in volumes if "secret" in volume)
        self._folder = Path(tempfile.mkdtemp(prefix="vm-", dir="/tmp"))
        self._output = (self._folder / "output").open("wb")
        self.process: subprocess.Popen[bytes] | None = None
        self._stopped = False

    def poll(self) -> int | None:
        """Its exit code once it has ended; starts it when it can be."""
        if self._stopped:
            return 0
        if self.process is None:
            secret = self._pods.secrets(self._namespace, self._secret)
            if secret is not None:
                self.process = self._started(base64.b64decode(secret["token"]))
            return None
        code = self.process.poll()
        return 128 - code if code is not None and code < 0 else code

    def ready(self) -> bool:
        """Whether somebody listens on the pod's port. A line that says nothing is of no consequence there."""
        if self.process is None or self.process.poll() is not None:
            return False
        with socket.socket() as line:
            return line.connect_ex((self._address, PORT)) == 0

    def output(self) -> str:
        """Its output."""
        return (self._folder / "output").read_text(errors="replace") if self._folder.exists() else ""

    def stop(self, seconds: float) -> int:
        """Asks it to end, then ends it; nothing of it is left."""
        code, self._stopped = 0, True
        if self.process is not None:
            self.process.terminate()
            try:
                code = self.process.wait(seconds or 0.1)
            except subprocess.TimeoutExpired:
                self.process.kill()
                code = self.process.wait()
        self._output.close()
        shutil.rmtree(self._folder, ignore_errors=True)
        return code

    def _started(self, token: bytes) -> "subprocess.Popen[bytes]":
        for name in ("templates", "overlays", "run"):
            (self._folder / name).mkdir()
        templates = self._folder / "templates" if self._own_templates else self._pods.shared()
        (self._folder / "token").write_bytes(token)
        self._folder.chmod(0o755)
        if os.getuid() == 0:
            for path in self._folder.iterdir():
                os.chown(path, NOBODY, NOBODY)
        variables = {variable["name"]: variable["value"] for variable in self._container["env"]}
        environment = {
            "PATH": os.environ["PATH"],
            **variables,
            "TMPDIR": str(self._folder / "run"),
            "DESKARENA_SUPERVISOR_TOKEN_FILE": str(self._folder / "token"),
            "DESKARENA_POD_LISTEN": f"{self._address}:{PORT}",
            "DESKARENA_POD_FORWARD": self._address,
            "DESKARENA_POD_IMAGES": str(self._pods.images),
            "DESKARENA_POD_TEMPLATES": str(templates),
            "DESKARENA_POD_OVERLAYS": str(self._folder / "overlays"),
        }
        ordinary: dict[str, Any] = {"user": NOBODY, "group": NOBODY, "extra_groups": []} if os.getuid() == 0 else {}
        return subprocess.Popen(
            ["/usr/bin/python3", "-I", str(self._pods.root / "code" / "entry.py")],
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=self._output,
            stderr=subprocess.STDOUT,
            **ordinary,
        )


@contextmanager
def vm_pods(
    secrets: Callable[[str, str], Mapping[str, str] | None], furnish: Callable[[Path], object]
) -> Iterator[VmPods]:
    """Pods whose processes are ended at the end.

    Args:
        secrets: as in VmPods.
        furnish: puts images into a folder.
    """
    with tempfile.TemporaryDirectory(prefix="vm-pods-", dir="/tmp") as folder:
        root = Path(folder)
        root.chmod(0o755)
        lay_out(root / "code")
        pods = VmPods(root, secrets)
        furnish(pods.images)
        for path in pods.images.glob("*/*"):
            path.chmod(0o444)
        yield pods
        for pod in pods.started:
            pod.stop(0.0)
