"""Desktops and evaluators are hit: X server, guest server, session bus, the child that judges."""

import signal
import time
from collections.abc import Callable
from random import Random
from threading import Event

from sqlalchemy import text

from tests.chaos import processes
from tests.chaos.faults.base import Fault, Scene, chosen, kind
from tests.chaos.processes import Seen
from tests.chaos.stack import WORKERS

PATIENCE = 15.0
"""Seconds for which a fault waits for something to hit."""
SPARE_AFTER = 1
"""Losses as `guest` after which an episode's guests are left alone: the third is meant to end the episode."""


class GuestHit(Fault):
    """A program of a desktop is killed, or stands still for a while."""

    def __init__(self, program: str, share: float, seconds: float = 0.0) -> None:
        self.program, self.share, self.seconds = program, share, seconds
        self._hit: list[int] = []

    def inject(self, scene: Scene) -> str:
        if _spared(scene):
            return "an episode under way has had its losses: left alone"
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
    deadline, pause = time.monotonic() + PATIENCE, Event()
    while True:
        found = sorted(each.pid for name in WORKERS for each in _below(scene, name) if wanted(each))
        if found or time.monotonic() > deadline:
            return chosen(found, share)
        pause.wait(0.1)


def _below(scene: Scene, name: str) -> list[Seen]:
    pid = scene.stack.pid(name)
    return processes.below(pid, time.time()) if pid else []


def _spared(scene: Scene) -> bool:
    """Whether an episode under way must not lose another guest. Which desktop is whose cannot be seen from outside."""
    query = """SELECT count(*) FROM (
        SELECT e.id FROM episode e JOIN attempt a ON a.episode_id = e.id AND a.failure_class IN ('guest', 'task_setup')
        WHERE e.state IN ('waiting', 'running') GROUP BY e.id HAVING count(*) >= :most) AS worn"""
    with scene.stack.world.work() as session:
        return bool(session.execute(text(query), {"most": SPARE_AFTER}).scalar_one())


def _stop(random: Random) -> float:
    return random.uniform(2.0, 15.0)


kind("kill x server", "the X server of a desktop gets SIGKILL", lambda r: GuestHit("Xvfb", r.random()))
kind("pause x server", "such an X server stands still", lambda r: GuestHit("Xvfb", r.random(), _stop(r)))
kind(
    "kill guest server",
    "the guest server of a desktop gets SIGKILL",
    lambda r: GuestHit("guest_server.session", r.random()),
)
kind(
    "pause guest server",
    "such a guest server stands still",
    lambda r: GuestHit("guest_server.session", r.random(), _stop(r)),
)
kind("kill session bus", "the session bus of a desktop gets SIGKILL", lambda r: GuestHit("dbus-daemon", r.random()))
kind("kill window manager", "the window manager of a desktop gets SIGKILL", lambda r: GuestHit("openbox", r.random()))
kind("kill evaluator", "a child process that judges gets SIGKILL", lambda r: EvaluatorKilled(r.random()))
