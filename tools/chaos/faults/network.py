"""Lines between parts of the stack are cut, reset and slowed."""

from random import Random

from tools.chaos.faults.base import Fault, Scene, WorkerHit, busy_worker, kind
from tools.chaos.faults.parts import any_worker, longer, shorter
from tools.chaos.proxy import LinkMode
from tools.chaos.stack import LEASE, WORKERS, now


class LinkFault(Fault):
    """A line is in another mode for a while."""

    def __init__(self, link: str, mode: LinkMode, seconds: float, **options: float) -> None:
        self.link, self.mode, self.seconds, self.options = link, mode, seconds, options

    def inject(self, scene: Scene) -> str:
        user, _, server = self.link.partition(">")
        if user in WORKERS and server == "postgres" and self.mode is not LinkMode.SLOW and self.seconds > LEASE:
            user = busy_worker(scene, user)
            self.link = f"{user}>{server}"
            if pid := scene.stack.pid(user):
                scene.blows.append(WorkerHit(pid, now()))
        scene.stack.lines.set(self.link, self.mode, **self.options)
        how = ", ".join(f"{name} {value:.3g}" for name, value in self.options.items())
        return f"{self.link}: {self.mode.value} for {self.seconds:.1f} s {how}".strip()

    def heal(self, scene: Scene) -> None:
        scene.stack.lines.set(self.link, LinkMode.PASS)


class Reset(LinkFault):
    """Every connection of a line is reset once; new ones work."""

    def __init__(self, link: str) -> None:
        super().__init__(link, LinkMode.REFUSE, 0.0)


def _database(random: Random) -> str:
    return f"{any_worker(random)}>postgres"


def _any(random: Random) -> str:
    return f"{random.choice(['api', *WORKERS])}>{random.choice(['postgres', 'broker'])}"


def _slow(random: Random) -> LinkFault:
    return LinkFault(_any(random), LinkMode.SLOW, random.uniform(4.0, 12.0), latency=random.uniform(0.05, 0.3))


def _narrow(random: Random) -> LinkFault:
    return LinkFault(_any(random), LinkMode.SLOW, random.uniform(4.0, 12.0), rate=random.uniform(20e3, 200e3))


kind(
    "partition database briefly",
    "a worker's connection to the database passes nothing for less than a lease",
    lambda r: LinkFault(_database(r), LinkMode.HOLE, shorter(r)),
)
kind(
    "partition database",
    "a worker's connection to the database passes nothing for longer than a lease; the delayed data arrives afterwards",
    lambda r: LinkFault(_database(r), LinkMode.HOLE, longer(r)),
    loses=True,
)
kind(
    "refuse database connections",
    "a worker's connections to the database are reset and refused for a while",
    lambda r: LinkFault(_database(r), LinkMode.REFUSE, r.uniform(2.0, 14.0)),
)
kind(
    "partition api",
    "the API's connection to database or broker passes nothing",
    lambda r: LinkFault(f"api>{r.choice(['postgres', 'broker'])}", LinkMode.HOLE, r.uniform(2.0, 14.0)),
)
kind(
    "partition broker",
    "a worker's connection to the broker passes nothing",
    lambda r: LinkFault(f"{any_worker(r)}>broker", LinkMode.HOLE, r.uniform(2.0, 18.0)),
)
kind("reset connections", "all connections between two processes are reset at once", lambda r: Reset(_any(r)))
kind("delay traffic", "a connection passes data on with a delay", _slow)
kind("throttle traffic", "a connection passes few bytes a second", _narrow)
