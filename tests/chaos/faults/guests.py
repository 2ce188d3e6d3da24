"""Desktops and evaluators are hit: X server, guest server, session bus, the child that judges."""

import signal
import time
from collections.abc import Callable
from functools import partial
from random import Random
from threading import Event

from sqlalchemy import text

from tests.chaos import processes
from tests.chaos.faults.base import LOCAL, PATIENCE, Fault, Scene, awaited, chosen, kind
from tests.chaos.processes import Seen
from tests.chaos.stack import WORKERS

SPARE_AFTER = 1
"""Losses as `guest` after which an episode's guests are left alone: the third is meant to end the episode."""
SPARED = "an episode under way has had its losses: left alone"


class GuestHit(Fault):
    """A program of a desktop is killed, or stands still for a while."""

    def __init__(self, program: str, share: float, seconds: float = 0.0) -> None:
        self.program, self.share, self.seconds = program, share, seconds
        self._hit: list[int] = []

    def inject(self, scene: Scene) -> str:
        if not fresh(scene):
            return SPARED
        pid = _awaited(scene, self._is_it, self.share)
        if pid is None:
            return f"no {self.program} is there"
        self._hit = [pid]
        processes.signal_all(self._hit, signal.SIGSTOP if self.seconds else signal.SIGKILL)
        return f"{self.program} ({pid}) {f'stands still for {self.seconds:.1f} s' if self.seconds else 'killed'}"

    def _is_it(self, each: Seen) -> bool:
        return (
            bool(each.words) and not processes.is_desktop(each) and any(self.program in word for word in each.words[:3])
        )

    def heal(self, scene: Scene) -> None:
        if self.seconds:
            processes.signal_all(self._hit, signal.SIGCONT)


class EvaluatorKilled(Fault):
    """A child that judges, or is made ready to judge, is killed."""

    def __init__(self, share: float) -> None:
        self.share = share

    def inject(self, scene: Scene) -> str:
        pid = _awaited(scene, lambda each: "worker.evaluation.child" in each.words, self.share)
        if pid is None:
            return "no evaluator is there"
        processes.signal_all([pid], signal.SIGKILL)
        return f"evaluator ({pid}) killed"


def _awaited(scene: Scene, wanted: Callable[[Seen], bool], share: float) -> int | None:
    """One of the processes that are wanted, as soon as there is one."""

    def there() -> list[int]:
        return sorted(each.pid for name in WORKERS for each in _below(scene, name) if wanted(each))

    return chosen(awaited(there), share)


def _below(scene: Scene, name: str) -> list[Seen]:
    pid = scene.stack.pid(name)
    return processes.below(pid, time.time()) if pid else []


def fresh(scene: Scene) -> bool:
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


def _stop(random: Random) -> float:
    return random.uniform(2.0, 15.0)


def _kinds() -> None:
    for what, program, of in (
        ("x server", "Xvfb", "the X server of a desktop"),
        ("guest server", "guest_server.session", "the guest server of a desktop"),
        ("session bus", "dbus-daemon", "the session bus of a desktop"),
        ("window manager", "openbox", "the window manager of a desktop"),
    ):
        kind(f"kill {what}", f"{of} gets SIGKILL", partial(_hit, program), LOCAL)
        if what.endswith("server"):
            kind(f"pause {what}", f"{of} stands still", partial(_paused, program), LOCAL)
    kind("kill evaluator", "a child process that judges gets SIGKILL", lambda r: EvaluatorKilled(r.random()), LOCAL)


def _hit(program: str, random: Random) -> Fault:
    return GuestHit(program, random.random())


def _paused(program: str, random: Random) -> Fault:
    return GuestHit(program, random.random(), _stop(random))


_kinds()
