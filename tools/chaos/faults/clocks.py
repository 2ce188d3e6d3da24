"""Clocks jump: a part runs under libfaketime, and its wall clock goes forth or back by an hour while it works.

libfaketime reads the offset from a file, about once a second. The part is started again for it and afterwards, which is
a separate fault. Its monotonic clock is left alone, as a real jump leaves it alone.
"""

import signal
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from random import Random
from threading import Event

from tools.chaos import processes
from tools.chaos.faults.base import Fault, Scene, kind
from tools.chaos.stack import WORKERS, now

PLACE = "/usr/lib/{}-linux-gnu/faketime/libfaketimeMT.so.1"
LIBRARIES = tuple(Path(PLACE.format(machine)) for machine in ("x86_64", "aarch64"))
BACK_SECONDS = 20.0


class Jump(Fault):
    """The wall clock of one part jumps and comes back."""

    def __init__(self, name: str, offset: str, seconds: float) -> None:
        self.name, self.offset, self.seconds = name, offset, seconds

    def why_not(self, scene: Scene) -> str:
        return "" if _library() else "libfaketime is not installed: python3 -m tools.prepare --chaos"

    def inject(self, scene: Scene) -> str:
        stack, file = scene.stack, scene.stack.folder / f"clock-{self.name}"
        spec = stack.specs[self.name]
        faked = {
            "LD_PRELOAD": str(_library()),
            "FAKETIME_TIMESTAMP_FILE": str(file),
            "FAKETIME_CACHE_DURATION": "1",
            "FAKETIME_DONT_FAKE_MONOTONIC": "1",
        }
        file.write_text("+0\n")
        stack.specs[self.name] = replace(spec, env={**spec.env, **faked})
        if not self._again(scene):
            return f"{self.name} did not come back in time under libfaketime"
        file.write_text(f"{self.offset}\n")
        return f"clock of {self.name} jumps by {self.offset} for {self.seconds:.1f} s"

    def heal(self, scene: Scene) -> None:
        (scene.stack.folder / f"clock-{self.name}").write_text("+0\n")
        spec = scene.stack.specs[self.name]
        plain = {name: value for name, value in spec.env.items() if not name.startswith(("FAKETIME", "LD_PRELOAD"))}
        scene.stack.specs[self.name] = replace(spec, env=plain)
        self._again(scene)
        (scene.stack.folder / f"clock-{self.name}").unlink()

    def _again(self, scene: Scene) -> bool:
        """Starts the part again, and waits until it has another process."""
        pid = scene.stack.pid(self.name)
        if pid is not None:
            processes.signal_all([pid], signal.SIGTERM)
        deadline, pause = now() + BACK_SECONDS, Event()
        while scene.stack.pid(self.name) in {pid, None} and now() < deadline:
            pause.wait(0.1)
        return scene.stack.pid(self.name) not in {pid, None}


def _library() -> Path | None:
    return next((path for path in LIBRARIES if path.exists()), None)


def _drawer(name: str) -> Callable[[Random], Fault]:
    def draw(random: Random) -> Fault:
        part = random.choice(WORKERS) if name == "worker" else name
        return Jump(part, random.choice(["+3600", "-3600"]), random.uniform(6.0, 15.0))

    return draw


for _name in ("worker", "api", "beat"):
    _article = "a worker's" if _name == "worker" else f"the {_name}'s"
    kind(f"clock {_name}", f"{_article} clock jumps by an hour and back", _drawer(_name))
