"""Desktops and evaluators are hit: X server, guest server, session bus, the child that judges."""

import signal
import time
from abc import abstractmethod
from collections.abc import Callable
from threading import Event

from sqlalchemy import text

from tools.chaos import processes
from tools.chaos.faults.base import LOCAL, PATIENCE, Draw, Fault, Scene, awaited, kind, pick_share
from tools.chaos.processes import ProcessInfo
from tools.chaos.stack import WORKERS

SPARE_AFTER = 1
"""Losses as `guest` after which an episode's guests are left alone: the third is meant to end the episode."""
_SPARED = "an episode under way has had its losses: left alone"


class ProgramHit(Fault):
    """A process of a program is killed, or paused for some seconds."""

    def __init__(self, program: str, share: float, seconds: float = 0.0) -> None:
        self.program, self.share, self.seconds = program, share, seconds
        self._hit: list[int] = []

    @classmethod
    def killed(cls, program: str) -> Draw:
        return lambda random: cls(program, random.random())

    @classmethod
    def paused(cls, program: str) -> Draw:
        """Pauses it."""
        return lambda random: cls(program, random.random(), random.uniform(2.0, 15.0))

    @abstractmethod
    def there(self, scene: Scene) -> list[ProcessInfo]:
        """The program's processes, of all that may be hit."""

    def inject(self, scene: Scene) -> str:
        if not _await_fresh(scene):
            return _SPARED
        pid = _await_process(lambda: self.there(scene), self.share)
        if pid is None:
            return f"no {self.program} is there"
        self._hit = [pid]
        processes.signal_all(self._hit, signal.SIGSTOP if self.seconds else signal.SIGKILL)
        return f"{self.program} ({pid}) {f'is paused for {self.seconds:.1f} s' if self.seconds else 'killed'}"

    def heal(self, scene: Scene) -> None:
        if self.seconds:
            processes.signal_all(self._hit, signal.SIGCONT)


class GuestHit(ProgramHit):
    """The program is a desktop's."""

    def there(self, scene: Scene) -> list[ProcessInfo]:
        return [worker for worker in _below_workers(scene) if self._is_it(worker)]

    def _is_it(self, process: ProcessInfo) -> bool:
        return not processes.is_desktop(process) and any(self.program in word for word in process.words[:3])


class KillEvaluator(Fault):
    """A child that judges, or is made ready to judge, is killed."""

    def __init__(self, share: float) -> None:
        self.share = share

    def inject(self, scene: Scene) -> str:
        pid = _await_process(lambda: self._there(scene), self.share)
        if pid is None:
            return "no evaluator is there"
        processes.signal_all([pid], signal.SIGKILL)
        return f"evaluator ({pid}) killed"

    @staticmethod
    def _there(scene: Scene) -> list[ProcessInfo]:
        return [worker for worker in _below_workers(scene) if "worker.evaluation.child" in worker.words]


def _await_process(look: Callable[[], list[ProcessInfo]], share: float) -> int | None:
    """One of the processes that are found, as soon as there is one."""
    return pick_share(awaited(lambda: sorted(process.pid for process in look())), share)


def _below_workers(scene: Scene) -> list[ProcessInfo]:
    pids = [pid for name in WORKERS if (pid := scene.stack.pid(name))]
    return [process for pid in pids for process in processes.below(pid, time.time())]


def _await_fresh(scene: Scene) -> bool:
    """Waits until no episode under way has had its losses."""
    deadline, pause = time.monotonic() + PATIENCE * 2, Event()
    while (spared := _spared(scene)) and time.monotonic() < deadline:
        pause.wait(0.5)
    return not spared


def _spared(scene: Scene) -> bool:
    """Whether an episode under way must not lose another guest. Which desktop is whose cannot be seen from outside."""
    query = """SELECT count(*) FROM (
        SELECT e.id FROM episode e JOIN attempt a ON a.episode_id = e.id AND a.failure_class IN ('guest', 'task_setup')
        WHERE e.state IN ('waiting', 'running') GROUP BY e.id HAVING count(*) >= :most) AS worn"""
    with scene.stack.world.work() as session:
        return bool(session.execute(text(query), {"most": SPARE_AFTER}).scalar_one())


def _kinds() -> None:
    for what, program, of in (
        ("x server", "Xvfb", "the X server of a desktop"),
        ("guest server", "guest_server.linux.session", "the guest server of a desktop"),
        ("session bus", "dbus-daemon", "the session bus of a desktop"),
        ("window manager", "openbox", "the window manager of a desktop"),
    ):
        kind(f"kill {what}", f"{of} gets SIGKILL", GuestHit.killed(program), LOCAL)
        if what.endswith("server"):
            kind(f"pause {what}", f"{of} is paused", GuestHit.paused(program), LOCAL)
    kind(
        "kill evaluator", "the child process of an evaluation gets SIGKILL", lambda r: KillEvaluator(r.random()), LOCAL
    )


_kinds()
