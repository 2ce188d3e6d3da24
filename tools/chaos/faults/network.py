"""Lines between parts of the stack are cut, reset and slowed."""

from random import Random

from tools.chaos.faults.base import Blow, Fault, Scene, busy_worker, kind
from tools.chaos.faults.parts import any_worker, longer, shorter
from tools.chaos.proxy import Mode
from tools.chaos.stack import LEASE, WORKERS, now


class Line(Fault):
    """A line is in another mode for a while."""

    def __init__(self, link: str, mode: Mode, seconds: float, **options: float) -> None:
        self.link, self.mode, self.seconds, self.options = link, mode, seconds, options

    def inject(self, scene: Scene) -> str:
        user, _, server = self.link.partition(">")
        if user in WORKERS and server == "postgres" and self.mode is not Mode.SLOW and self.seconds > LEASE:
            user = busy_worker(scene, user)
            self.link = f"{user}>{server}"
            if pid := scene.stack.pid(user):
                scene.blows.append(Blow(pid, now()))
        scene.stack.lines.set(self.link, self.mode, **self.options)
        how = ", ".join(f"{name} {value:.3g}" for name, value in self.options.items())
        return f"{self.link}: {self.mode.value} for {self.seconds:.1f} s {how}".strip()

    def heal(self, scene: Scene) -> None:
        scene.stack.lines.set(self.link, Mode.PASS)


class Reset(Line):
    """Every connection of a line is reset once; new ones work."""

    def __init__(self, link: str) -> None:
        super().__init__(link, Mode.REFUSE, 0.0)


def _database(random: Random) -> str:
    return f"{any_worker(random)}>postgres"


def _any(random: Random) -> str:
    return f"{random.choice(['api', *WORKERS])}>{random.choice(['postgres', 'broker'])}"


def _slow(random: Random) -> Line:
    return Line(_any(random), Mode.SLOW, random.uniform(4.0, 12.0), latency=random.uniform(0.05, 0.3))


def _narrow(random: Random) -> Line:
    return Line(_any(random), Mode.SLOW, random.uniform(4.0, 12.0), rate=random.uniform(20e3, 200e3))


kind(
    "cut database",
    "a worker's line to the database is a black hole for less than a lease",
    lambda r: Line(_database(r), Mode.HOLE, shorter(r)),
)
kind(
    "part database",
    "the same for longer than a lease; what was swallowed arrives afterwards",
    lambda r: Line(_database(r), Mode.HOLE, longer(r)),
    loses=True,
)
kind(
    "refuse database",
    "a worker's connections to the database are reset and refused for a while",
    lambda r: Line(_database(r), Mode.REFUSE, r.uniform(2.0, 14.0)),
)
kind(
    "cut api",
    "the API's line to database or broker is a black hole",
    lambda r: Line(f"api>{r.choice(['postgres', 'broker'])}", Mode.HOLE, r.uniform(2.0, 14.0)),
)
kind(
    "cut broker",
    "a worker's line to the broker is a black hole",
    lambda r: Line(f"{any_worker(r)}>broker", Mode.HOLE, r.uniform(2.0, 18.0)),
)
kind("reset", "all connections of one line are reset at once", lambda r: Reset(_any(r)))
kind("slow", "a line hands on with a delay", _slow)
kind("narrow", "a line hands on few bytes a second", _narrow)
