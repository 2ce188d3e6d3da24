"""Desktops of a Deskarena service as machines for benchmarks of the CUBE standard.

`DeskarenaInfraConfig()` in place of `LocalInfraConfig()`: each machine that a benchmark launches is a leased desktop
behind a local address with the HTTP interface of OSWorld's virtual machines (`deskarena.osworld_server`). What the
benchmark does with it is an episode of an open run, with steps and replay. The benchmark's own evaluator scores; here
the episode is handed in, without a score. Needs Python 3.12 and `pip install deskarena[cube]`. The token comes from
DESKARENA_TOKEN only: configurations are stored by harnesses.
"""

import io
import json
import threading
import zipfile
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from cube.resource import InfraConfig, ResourceConfig, ResourceHandle, UnsupportedResourceType, VMResourceConfig

from deskarena.client import Client
from deskarena.desktop_env import DesktopEnv
from deskarena.osworld_server import OSWorldServer

BENCHMARK = "leased-desktops"
"""Name on the service of the tasks whose episodes are leases; `provision` imports it."""
_SYSTEMS: Mapping[str, str] = {"linux": "/home/user/result", "windows": "C:\\Users\\Docker\\result"}
"""Operating systems, and a file that a benchmark may leave there as its episode's record."""


@dataclass
class LeasedDesktop(ResourceHandle):
    """A desktop until `close`.

    Attributes:
        env: its episode.
        server: behind `endpoint`.
    """

    env: DesktopEnv | None = None
    server: OSWorldServer | None = None

    def close(self) -> None:
        """Gives the desktop back. Safe to call twice."""
        if self.server is not None:
            self.server.close()
        if self.env is not None and isinstance(self.infra, DeskarenaInfraConfig):
            self.env.leave()
            self.infra.take_back(self, self.env)
        self.server = self.env = None


class DeskarenaInfraConfig(InfraConfig):
    """Leases desktops of a service. Those of one process are episodes of one run where none overlaps another.

    Attributes:
        server: address of the service; None = DESKARENA_SERVER, else this machine.
        provider: kind of desktop.
        screen: width and height in pixels.
        max_steps, max_seconds: of a lease; each request of the benchmark is a step.
        label: name and version of what acts, which identifies it on pages.
        run_name: name of the run.
        patience: seconds to wait for a free desktop.
    """

    server: str | None = None
    provider: str = "local"
    screen: tuple[int, int] = (1920, 1080)
    max_steps: int = 1000
    max_seconds: float = 14400.0
    label: str = "cube"
    run_name: str = ""
    patience: float = 600.0

    _desktops: "_Desktops"

    def model_post_init(self, context: Any, /) -> None:
        """Has no desktop yet."""
        super().model_post_init(context)
        self._desktops = _Desktops()

    def fingerprint(self) -> str:
        """The service's address: what is imported there stays there."""
        client = Client(self.server)
        client.close()
        return f"deskarena:{client.server}"

    def capabilities(self) -> set[str]:
        """Whether a desktop is a virtual machine is the service's matter."""
        return {"kvm"}

    def provision(self, resource: ResourceConfig) -> None:
        """Imports the tasks whose episodes are leases. Safe to call twice.

        Raises:
            UnsupportedResourceType: the resource is not a virtual machine.
            ServiceError: the service refuses or is unavailable.
        """
        task = self._task(resource)
        self._import()
        self.register(self._resource_shim(resource), {"task": task})

    def launch(self, resource: ResourceConfig) -> LeasedDesktop:
        """A pristine desktop.

        Raises:
            UnsupportedResourceType: the resource is not a virtual machine.
            NotRunnable: no desktop became free in time.
            ServiceError: the service refuses or is unavailable.
        """
        task = self._task(resource)
        env = self._desktops.take() or self._environment()
        try:
            env.reset({"id": task, "instruction": ""})
        except BaseException:
            env.close()
            raise
        server = OSWorldServer(env)
        lease = LeasedDesktop(
            run_id=env.run_id or "", resource=resource, infra=self, endpoint=server.address, env=env, server=server
        )
        self._desktops.leased(lease)
        return lease

    def take_back(self, lease: LeasedDesktop, env: DesktopEnv) -> None:
        """Keeps the run of a lease that has ended for the next one."""
        self._desktops.returned(lease, env)

    def list_active(self, run_id: str | None = None) -> list[ResourceHandle]:
        """Leases of this process. Those of a process that was killed end by the service's own deadlines."""
        return [lease for lease in self._desktops.leases() if run_id in {None, lease.run_id}]

    def cleanup(self, run_id: str) -> None:
        """Ends this process's leases of the run, and the run."""
        for lease in self.list_active(run_id):
            lease.close()
        self._close_idle(run_id)

    def cleanup_stale(self, max_age_seconds: int | None = None) -> list[str]:  # noqa: ARG002 - the standard's.
        """Closes this process's runs without a lease; returns their ids. The service ends what a dead client left."""
        return self._close_idle()

    def _close_idle(self, run_id: str | None = None) -> list[str]:
        closed = []
        for env in self._desktops.idle(run_id):
            closed.append(env.run_id or "")
            env.close()
        return closed

    def _task(self, resource: ResourceConfig) -> str:
        if not isinstance(resource, VMResourceConfig):
            raise UnsupportedResourceType(resource, self)
        return f"desktop/{resource.os_type}"

    def _import(self) -> None:
        client = Client(self.server)
        try:
            client.upload("/benchmarks", {"kind": "starter", "name": BENCHMARK}, "tasks.zip", _tasks())
        finally:
            client.close()

    def _environment(self) -> DesktopEnv:
        self._import()  # Benchmarks that declare no resources are not provisioned.
        return DesktopEnv(
            action_space="pyautogui",
            screen_size=self.screen,
            require_a11y_tree=True,
            require_terminal=True,
            server=self.server,
            benchmark=BENCHMARK,
            provider=self.provider,
            run_name=self.run_name,
            label=self.label,
            max_steps=self.max_steps,
            max_seconds=self.max_seconds,
            patience=self.patience,
        )


class _Desktops:
    """Desktops that one process has leased. A copy in another process has leased nothing."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._free: list[DesktopEnv] = []
        self._leases: list[LeasedDesktop] = []

    def __reduce__(self) -> tuple[type["_Desktops"], tuple[()]]:
        return _Desktops, ()

    def take(self) -> DesktopEnv | None:
        """One whose lease has ended, so that the next one belongs to the same run."""
        with self._lock:
            return self._free.pop() if self._free else None

    def leased(self, lease: LeasedDesktop) -> None:
        with self._lock:
            self._leases.append(lease)

    def returned(self, lease: LeasedDesktop, env: DesktopEnv) -> None:
        with self._lock:
            self._leases.remove(lease)
            self._free.append(env)

    def leases(self) -> list[LeasedDesktop]:
        with self._lock:
            return list(self._leases)

    def idle(self, run_id: str | None) -> list[DesktopEnv]:
        """Takes out those without a lease, of one run or all."""
        with self._lock:
            idle = [env for env in self._free if run_id in {None, env.run_id}]
            self._free = [env for env in self._free if env not in idle]
            return idle


def _tasks() -> bytes:
    """A zip of one task for each operating system, in the starter's format."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("test_all.json", json.dumps({"desktop": list(_SYSTEMS)}))
        for system, path in _SYSTEMS.items():
            task = {
                "id": system,
                "instruction": "A desktop that is leased to a benchmark, which sets up and scores its own tasks.",
                "source": "deskarena.cube_infra",
                "snapshot": "starter",
                "config": [],
                "evaluator": {"func": "handed_in", "result": {"type": "vm_file", "path": path, "dest": "result"}},
                "metadata": {"os": system},
            }
            archive.writestr(f"desktop/{system}.json", json.dumps(task))
    return out.getvalue()
