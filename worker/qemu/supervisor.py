"""The supervisor of one slot: `python -S -m worker.qemu.supervisor`, on a host or inside a pod.

It runs the slot's QEMUs, handles one request after another in one thread, and ends with the connection to its worker;
the kernel kills its QEMUs with that thread. While large files are read or written it still handles connections: see
`background_job`. A request is a line `{"id", "op", ...}`, its response `{"id", "ok", ...}`. Notifications are
`{"event": "started", ...}` once, and `{"event": "gone", "machine", "why", "cause"}` for a machine that cannot continue.

| op | takes | gives |
|---|---|---|
| `start` | `kind`, `machine`, `secret`, `place` | `machine` (its name), `port`, `seconds` by phase |
| `freeze` | `machine`, `place` | `seconds`; the machine is gone then |
| `picture` | `machine` | `png` in base64 |
| `memory` | `machine` | `bytes` that are its own |
| `end` | `machine` | nothing is left of it then |
| `stop` | | the conversation ends; a supervisor that listens waits for the next worker |
| `host` | `accelerator` (the setting) | fields of `plan.Host` |
| `images` | | `images`: of each its `folder`, `about`, `secret`, `sizes` |
| `hashes` | `folder`, `names` | `hashes` of files of an image |
| `find` | `key` | `template`, or null |
| `templates` | | `templates` that are there |
| `make` | `key` | `place` to make it in; empty while another pod makes it |
| `made` | `key` | the place is gone, unless it was kept |
| `keep` | `key`, `place`, `image`, `screen`, `secret`, `seconds`, `why_emulated` | `template` |

All requests from `images` on concern a pod's volumes; a supervisor without volumes refuses them.
"""

import argparse
import contextlib
import math
import os
import selectors
import signal
import socket
import subprocess
import sys
import time
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

from worker.base.json_lines import LineDecoder, LineError, encode
from worker.local import kernel
from worker.qemu.accelerator import AUTO, KvmRefused
from worker.qemu.access_gate import AccessGate
from worker.qemu.arguments import PROGRAM
from worker.qemu.background_job import HASH, SYNC, BackgroundJob
from worker.qemu.host_facts import QemuUnavailable, facts
from worker.qemu.machine import MachineSpec
from worker.qemu.process import QemuFailed
from worker.qemu.runtime_dir import RuntimeDir
from worker.qemu.slot import StartRequest, VmSlot
from worker.qemu.volumes import Volumes

_MOST_REQUEST = 2**20
_LOOK_SECONDS = 1.0
_SEND_SECONDS = 30.0
TAKEN_OVER = "another worker has taken over the slot"
TOKEN = "DESKARENA_SUPERVISOR_TOKEN"  # noqa: S105 - the variable's name.


class SupervisorSession:
    """One worker's connection for one slot."""

    def __init__(
        self,
        connection: socket.socket,
        slot: VmSlot,
        runtime: RuntimeDir,
        *,
        volumes: Volumes | None = None,
        door: AccessGate | None = None,
    ) -> None:
        """Takes ownership of a connected socket.

        Args:
            connection: to the worker.
            slot: runs the machines.
            runtime: the supervisor's own folder.
            volumes: of a pod.
            door: admits another worker, which then has the slot.
        """
        self._connection, self._slot, self._runtime = connection, slot, runtime
        self._volumes, self._door = volumes, door
        self.successor: socket.socket | None = None
        self._host: dict[str, Any] | None = None
        self._decoder = LineDecoder(_MOST_REQUEST)
        self._stopping = False
        self._operations: dict[str, Callable[[dict[str, Any]], dict[str, Any]]] = {
            "start": self._start,
            "freeze": self._freeze,
            "picture": lambda message: {"png": self._slot.picture(str(message["machine"]))},
            "memory": lambda message: {"bytes": self._slot.private_bytes(str(message["machine"]))},
            "end": self._end,
            "stop": self._stop,
            "host": lambda message: {"host": self._facts(str(message.get("accelerator", AUTO)))},
            **(_about(volumes, self._run_job) if volumes is not None else {}),
        }

    def run(self) -> None:
        """Serves until the worker is gone or requests the stop; no machine is left then."""
        self._connection.settimeout(_SEND_SECONDS)
        self._tell({"event": "started", "pid": os.getpid(), "folder": str(self._runtime.path), "qemu": qemu_version()})
        while not self._stopping:
            self._turn()
        with contextlib.suppress(QemuFailed):
            self._slot.close()
        if self._volumes is not None:
            self._volumes.close()

    def _turn(self) -> None:
        """Waits for a request, or an event of a machine."""
        if self._connection in self._heard(self._connection) and not self._stopping:
            self._hear()

    def _heard(self, who: socket.socket | int) -> Sequence[object]:
        """Waits for a descriptor, the gate or a machine, and handles the latter two. Returns what is ready."""
        with selectors.DefaultSelector() as selector:
            for listener in (who, *(self._door.sockets() if self._door is not None else ())):
                selector.register(listener, selectors.EVENT_READ)
            for running in self._slot.machines.values():
                if not running.reported:
                    for source in (running.qemu.pid_fd, running.qemu.qmp, running.qemu.words_fd):
                        selector.register(source, selectors.EVENT_READ)
            ready = [key.fileobj for key, _ in selector.select(_LOOK_SECONDS)]
        self._check_machines()
        if self._door is not None and (entered := self._door.turn(ready)) is not None:
            self._tell({"event": "refused", "why": TAKEN_OVER})
            self.successor, self._stopping = entered, True
        return ready

    def _run_job(self, job: str, files: Sequence[Path]) -> list[str]:
        """Result of a job. A running one is given up when another worker comes. Raises QemuFailed."""
        with BackgroundJob(job, files) as chore:
            while not chore.over:
                if chore.output in self._heard(chore.output):
                    chore.hear()
                if self._stopping:
                    raise QemuFailed(TAKEN_OVER, code="taken_over")
            return chore.result()

    def _check_machines(self) -> None:
        for name, running in self._slot.machines.items():
            if not running.reported and (cause := self._slot.look(name)):
                running.reported = True
                self._tell({"event": "gone", "machine": name, "why": cause, "cause": running.qemu.cause})

    def _hear(self) -> None:
        try:
            data = self._connection.recv(65536)
            messages = self._decoder.feed(data)
        except (OSError, LineError):
            data, messages = b"", []
        if not data:
            self._stopping = True
        for message in messages:
            if not self._stopping:
                self._answer(message)

    def _answer(self, message: dict[str, Any]) -> None:
        reply: dict[str, Any]
        try:
            reply = {"ok": True, **self._operations[message["op"]](message)}
        except (QemuFailed, QemuUnavailable, KvmRefused) as error:
            reply = {"ok": False, "code": error.code, "error": error.message}
        except KeyError as error:
            reply = {"ok": False, "code": "invalid_request", "error": f"invalid request: {error}"}
        except (TypeError, ValueError, OSError, RuntimeError) as error:
            reply = {"ok": False, "code": "host_failed", "error": f"{type(error).__name__}: {error}"}
        if self.successor is None:
            self._tell({"id": message.get("id"), **reply})

    def _tell(self, message: dict[str, Any]) -> None:
        try:
            self._connection.sendall(encode(message))
        except OSError:
            self._stopping = True

    # ---- requests

    def _start(self, message: dict[str, Any]) -> dict[str, Any]:
        request = StartRequest(
            kind=str(message["kind"]),
            machine=MachineSpec.from_json(message["machine"]),
            secret=str(message.get("secret", "")),
            place=Path(message.get("place", "")),
        )
        name = self._slot.start(request)
        running = self._slot.machines[name]
        return {"machine": name, "port": running.port, "seconds": running.seconds, "pid": running.qemu.pid}

    def _freeze(self, message: dict[str, Any]) -> dict[str, Any]:
        start = time.monotonic()
        self._run_job(SYNC, self._slot.freeze(str(message["machine"]), Path(message["place"])))
        return {"seconds": {"freeze": time.monotonic() - start}}

    def _facts(self, accelerator: str) -> dict[str, Any]:
        """Measured once for each worker. Pods that share a volume of templates share the measurement of their node."""
        if self._host is None:
            notes = None if self._volumes is None else self._volumes.accelerator_notes
            self._host = facts(accelerator, notes=notes)
        return self._host

    def _end(self, message: dict[str, Any]) -> dict[str, Any]:
        self._slot.end(str(message["machine"]))
        return {}

    def _stop(self, _message: dict[str, Any]) -> dict[str, Any]:
        self._slot.close()
        self._stopping = True
        return {}


def qemu_version() -> str:
    """First line of QEMU's version output; empty if there is none."""
    try:
        result = subprocess.run([PROGRAM, "--version"], capture_output=True, text=True, timeout=10, check=True)
    except (OSError, subprocess.SubprocessError):
        return ""
    return result.stdout.partition("\n")[0].strip()


def _about(
    volumes: Volumes, run_job: Callable[[str, Sequence[Path]], list[str]]
) -> dict[str, Callable[[dict[str, Any]], dict[str, Any]]]:
    """Requests about a pod's volumes. Args: done: runs a job."""

    def hashes(message: dict[str, Any]) -> dict[str, Any]:
        names = [str(name) for name in message["names"]]
        digests = run_job(HASH, volumes.files(str(message["folder"]), names))
        return {"hashes": dict(zip(names, digests, strict=True))}

    def release(message: dict[str, Any]) -> dict[str, Any]:
        volumes.release(str(message["key"]))
        return {}

    names = ("key", "place", "image", "screen", "secret", "seconds", "why_emulated")
    return {
        "images": lambda _: {"images": volumes.images()},
        "hashes": hashes,
        "find": lambda message: {"template": volumes.find(str(message["key"]))},
        "templates": lambda _: {"templates": volumes.all()},
        "make": lambda message: {"place": volumes.make(str(message["key"]))},
        "release": release,
        "keep": lambda message: {"template": volumes.keep({name: message[name] for name in names if name in message})},
    }


def _supervise(
    connection: socket.socket, options: argparse.Namespace, door: AccessGate | None = None
) -> socket.socket | None:
    """Serves one worker; returns the connection of the next one, if it is there already."""
    volumes = Volumes(Path(options.images), Path(options.templates)) if options.images else None
    runtime = RuntimeDir()
    try:
        slot = VmSlot(runtime.path, Path(options.overlays), forward=options.forward, most=options.overlay_bytes)
        supervisor = SupervisorSession(connection, slot, runtime, volumes=volumes, door=door)
        supervisor.run()
    finally:
        runtime.remove()
    return supervisor.successor


def _listen(address: str, options: argparse.Namespace) -> None:
    """Serves one worker after another, over TCP; see `access_gate`. Returns once none has come for too long."""
    host, _, port = address.rpartition(":")
    token = os.environ.pop(TOKEN)
    with socket.create_server((host, int(port))) as server:
        door = AccessGate(server, token, options.fence)
        alone, waiting = options.alone_seconds or math.inf, None
        while True:
            try:
                connection = waiting or door.wait(alone)
            except TimeoutError:
                sys.stdout.write(f"no worker connected for {alone:g} s, exiting\n")
                return
            with connection:
                waiting = _supervise(connection, options, door)


def main() -> None:
    """Parses the command line and serves."""
    parser = argparse.ArgumentParser(description="Runs the virtual machines of one slot.")
    parser.add_argument("--fd", type=int, help="Descriptor of the socket to the worker.")
    parser.add_argument("--listen", help=f"HOST:PORT to listen on instead, with the token in {TOKEN}.")
    parser.add_argument("--forward", default="127.0.0.1", help="Host address of guest APIs.")
    parser.add_argument("--overlays", required=True, help="Folder with room for machines' writes.")
    parser.add_argument(
        "--overlay-bytes", type=int, default=0, help=("Maximum bytes that one machine may write; 0 = no limit.")
    )
    parser.add_argument("--images", default="", help="A pod's volume of images.")
    parser.add_argument("--templates", default="", help="A pod's volume of templates.")
    parser.add_argument("--fence", type=int, default=0, help="Lowest fencing token that is admitted.")
    parser.add_argument(
        "--alone-seconds", type=int, default=0, help=("Seconds without a worker after which it exits; 0 = never.")
    )
    options = parser.parse_args()
    kernel.adopt_orphans()
    # As process 1 of a container it would otherwise ignore these.
    for number in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(number, lambda *_: sys.exit(0))
    if options.listen:
        _listen(options.listen, options)
    else:
        connection = socket.socket(fileno=options.fd)
        connection.set_inheritable(False)
        _supervise(connection, options)


if __name__ == "__main__":
    main()
