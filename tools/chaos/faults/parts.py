"""Kills, pauses and restarts parts: workers, desktop supervisors, guards, API, beat, broker, database."""

import os
import signal
import time
from contextlib import suppress
from random import Random

import psutil

from tools.chaos import processes
from tools.chaos.faults.base import LOCAL, Fault, Scene, WorkerHit, busy_worker, kind, pick_share
from tools.chaos.stack import LEASE, WORKERS, now


class Kill(Fault):
    """A part is ended by a signal; the supervisor starts it again."""

    def __init__(self, name: str, number: signal.Signals = signal.SIGKILL) -> None:
        self.name, self.number = name, number

    def inject(self, scene: Scene) -> str:
        lost = self.name in WORKERS and self.number is signal.SIGKILL
        if lost:
            self.name = busy_worker(scene, self.name)
        pid = scene.stack.pid(self.name)
        if pid is None:
            return f"{self.name} is away already"
        if lost:
            scene.blows.append(WorkerHit(pid, now()))
        processes.signal_all([pid], self.number)
        return f"{self.number.name} to {self.name} ({pid})"


class Pause(Fault):
    """A part is stopped by SIGSTOP for a while, with all that it has forked if `whole`."""

    def __init__(self, name: str, seconds: float, *, whole: bool = False) -> None:
        self.name, self.seconds, self.whole = name, seconds, whole
        self._stopped: list[int] = []

    def inject(self, scene: Scene) -> str:
        lost = self.name in WORKERS and self.seconds > LEASE
        if lost:
            self.name = busy_worker(scene, self.name)
        pid = scene.stack.pid(self.name)
        if pid is None:
            return f"{self.name} is away already"
        if lost:
            scene.blows.append(WorkerHit(pid, now()))
        below = [process.pid for process in processes.below(pid, time.time())] if self.whole else []
        self._stopped = [pid, *below]
        processes.signal_all(self._stopped, signal.SIGSTOP)
        return f"{self.name} ({pid}) is paused for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        processes.signal_all(self._stopped, signal.SIGCONT)


class DesktopSupervisorHit(Fault):
    """The desktop supervisor of a worker's desktops is killed, or paused for a while."""

    def __init__(self, name: str, seconds: float = 0.0) -> None:
        self.name, self.seconds = name, seconds
        self._pid: int | None = None

    def inject(self, scene: Scene) -> str:
        self._pid = desktop_supervisor_of(scene, self.name)
        if self._pid is None:
            return f"no desktop supervisor of {self.name} is there"
        processes.signal_all([self._pid], signal.SIGSTOP if self.seconds else signal.SIGKILL)
        effect = f"is paused for {self.seconds:.1f} s" if self.seconds else "killed"
        return f"desktop supervisor of {self.name} ({self._pid}) {effect}"

    def heal(self, scene: Scene) -> None:
        if self.seconds and self._pid is not None:
            processes.signal_all([self._pid], signal.SIGCONT)


class KillGuard(Fault):
    """The guard of a component is killed: the component ends with it and is restarted."""

    def __init__(self, name: str) -> None:
        self.name = name

    def inject(self, scene: Scene) -> str:
        pid = scene.stack.pid(self.name)
        if pid is None:
            return f"{self.name} is away already"
        with suppress(psutil.NoSuchProcess):
            guard = psutil.Process(pid).ppid()
            if guard not in {0, 1, os.getpid()}:
                processes.signal_all([guard], signal.SIGKILL)
                return f"guard of {self.name} killed"
        return f"no guard of {self.name} is there"


class KillBackend(Fault):
    """One process of the database is killed, upon which PostgreSQL ends all connections and recovers."""

    def __init__(self, share: float) -> None:
        self.share = share

    def inject(self, scene: Scene) -> str:
        pid = scene.stack.pid("postgres")
        below = processes.below(pid, time.time()) if pid else []
        backends = [process.pid for process in below if "[local]" in " ".join(process.words)]
        backend = pick_share(sorted(backends), self.share)
        if backend is None:
            return "no backend of the database is there"
        processes.signal_all([backend], signal.SIGKILL)
        return f"backend {backend} of the database killed"


def desktop_supervisor_of(scene: Scene, name: str) -> int | None:
    """Process id of a worker's desktop supervisor."""
    pid = scene.stack.pid(name)
    below = processes.below(pid, time.time()) if pid else []
    pids = [process.pid for process in below if processes.DESKTOP_SUPERVISOR in process.words]
    return pids[0] if pids else None


def shorter(random: Random) -> float:
    """Seconds, shorter than a lease."""
    return random.uniform(1.5, LEASE * 0.6)


def longer(random: Random) -> float:
    """Seconds, longer than a lease."""
    return random.uniform(LEASE * 1.2, LEASE * 1.8)


def any_worker(random: Random) -> str:
    """One of the workers."""
    return random.choice(WORKERS)


kind("kill worker", "a worker gets SIGKILL", lambda r: Kill(any_worker(r)), loses=True)
kind("restart worker", "a worker gets SIGTERM in the middle of attempts", lambda r: Kill(any_worker(r), signal.SIGTERM))
kind("pause worker", "a worker is paused for less than its lease", lambda r: Pause(any_worker(r), shorter(r)))
kind(
    "freeze worker",
    "a worker is paused for longer than its lease",
    lambda r: Pause(any_worker(r), longer(r)),
    loses=True,
)
kind(
    "kill desktop supervisor",
    "the desktop supervisor of a worker's desktops gets SIGKILL",
    lambda r: DesktopSupervisorHit(any_worker(r)),
    LOCAL,
)
kind(
    "pause desktop supervisor",
    "it is paused",
    lambda r: DesktopSupervisorHit(any_worker(r), r.uniform(2.0, 14.0)),
    LOCAL,
)
kind("kill guard", "the guard of a worker or of the API gets SIGKILL", lambda r: KillGuard(r.choice([*WORKERS, "api"])))
kind("kill api", "the API gets SIGKILL", lambda _: Kill("api"))
kind("pause api", "the API is paused", lambda r: Pause("api", r.uniform(2.0, 12.0)))
kind("kill beat", "beat gets SIGKILL", lambda _: Kill("beat"))
kind("pause beat", "beat is paused", lambda r: Pause("beat", r.uniform(2.0, 12.0)))
kind("kill broker", "the broker gets SIGKILL", lambda _: Kill("broker"))
kind("pause broker", "the broker is paused", lambda r: Pause("broker", r.uniform(2.0, 14.0)))
kind(
    "kill database backend",
    "one process of PostgreSQL gets SIGKILL: all of its connections end",
    lambda r: KillBackend(r.random()),
)
kind("kill postgres", "the whole PostgreSQL is killed and started again", lambda _: Kill("postgres"))
kind(
    "pause postgres",
    "PostgreSQL is paused for less than a lease",
    lambda r: Pause("postgres", shorter(r), whole=True),
)
kind(
    "freeze postgres",
    "PostgreSQL is paused for longer than a lease",
    lambda r: Pause("postgres", longer(r), whole=True),
)
