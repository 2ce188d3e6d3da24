"""`make bench-live`: measures live views with many viewers, and what they cost a remote agent.

A program publishes pictures of 1920x1080 for the attempts that are watched, as their workers do. Viewers, in a process
of their own, watch them through two processes of the service, while a program on this machine acts on a real desktop
over REST. Writes docs/reports/performance-live.md; ends with 1 if an aim is missed. With `--quick` there are fewer
viewers and steps, and nothing is written.
"""

import argparse
import io
import json
import os
import random
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from threading import Event, Thread
from uuid import UUID

from PIL import Image, ImageDraw

from backend.services import events
from backend.services.events import FULL_WIDTH
from backend.services.scheduling import claims
from backend.services.scheduling.claims import Claim
from tests.factories.records import World
from tests.factories.tasks import make_benchmark, make_task
from tests.integration.worker.stack import WorkerStack
from tools.bench.figures import Figure, page, percentile
from tools.bench.loop import figure, quiet_and_restless, say
from tools.bench.remote import remote_steps
from tools.bench.viewer import ApiServers, processor_seconds

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-live.md"
FPS, PICTURES, PROCESSES = 5, 10, 2
SCREEN, TILE = (1920, 1080), (480, 270)
VIEWERS, WALLS, TILES, STEPS = 300, 20, 40, 100
AGE_MS, SLOWER = 500.0, 5.0
HEAD = f"""# Performance of live views

Measured by `make bench-live`, which writes this page: {PROCESSES} processes of the service send pictures that change
{FPS} times a second, first those of one episode in {SCREEN[0]}x{SCREEN[1]} ({{kilobytes[0]:.0f}} kB) to {{viewers}}
viewers, then those of {{tiles}} episodes in the size of a tile, {TILE[0]}x{TILE[1]} ({{kilobytes[1]:.0f}} kB), to
{{walls}} viewers of a wall. A viewer acknowledges a picture as soon as it is there; one that is slow gets the newest
picture next, so the age counts, not the number. The clock of an age runs from the capture until the whole picture has
arrived, or until the next one replaces it. Meanwhile a program acts on a real desktop over REST; its step runs from the
answer to the next picture.

Everything shares this machine: service, database, broker, worker, desktop, the program that publishes the pictures and
the one that plays all viewers, which alone takes {{share:.0f}} % of one processor. What the agent loses includes what
these programs take from it.

"""


@dataclass(frozen=True)
class Watched:
    """Viewers' delays in milliseconds; processor seconds of service and viewers, and pictures that arrived."""

    arrived: list[float]
    replaced: list[float]
    lost: int
    service_seconds: float
    viewer_seconds: float
    seconds: float


def main() -> int:
    """Measures, writes the page; the exit code tells whether all aims were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load = os.getloadavg()[0]
    viewers, walls, tiles, steps = (30, 4, 10, 20) if quick else (VIEWERS, WALLS, TILES, STEPS)
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        stack = WorkerStack(Path(folder), durable=True)
        events.configure(stack.redis_url)
        try:
            episodes = LiveEpisodes(stack.world, tiles)
            stack.world.benchmark(quiet_and_restless(), name="bench")
            with episodes.published():
                stack.start_worker()
                alone, single, wall = measure(stack, episodes, viewers, walls, steps)
        finally:
            stack.close()
    figures = [*_figures(single, alone, f"{viewers} viewers of one episode"),
               *_figures(wall, alone, f"{walls} viewers of {tiles} episodes")]  # fmt: skip
    share = max(watched.viewer_seconds / watched.seconds for watched, _ in (single, wall)) * 100
    facts = {"kilobytes": episodes.kilobytes, "viewers": viewers, "walls": walls, "tiles": tiles, "share": share}
    markdown = page([Figure("an agent's step without viewers", "", "ms", tuple(alone)), *figures], load,
                    HEAD.format(**facts))  # fmt: skip
    sys.stdout.write(markdown)
    if not quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met is not False for figure in figures) else 1


class LiveEpisodes:
    """Attempts that a worker holds, and their pictures."""

    def __init__(self, world: World, number: int) -> None:
        self._world = world
        world.benchmark(make_benchmark(*(make_task("live", f"task-{at}") for at in range(number))), name="live")
        self._worker = world.worker("publisher", slots=number, node="publisher")
        world.submit("noop", "live")
        self._claims: list[Claim] = [world.must_claim(self._worker) for _ in range(number)]
        for claim in self._claims:
            world.begin(claim)
        screens = [_picture(seed) for seed in range(PICTURES)]
        self._pictures = {size[0]: [_jpeg(screen.resize(size)) for screen in screens] for size in (SCREEN, TILE)}
        self.attempts: Sequence[UUID] = [claim.attempt_id for claim in self._claims]

    @property
    def kilobytes(self) -> list[float]:
        """Mean size of a whole picture, and of a tile's."""
        return [sum(map(len, pictures)) / len(pictures) / 1000 for pictures in self._pictures.values()]

    @contextmanager
    def published(self) -> Iterator[None]:
        """Publishes pictures of watched attempts, and renews the leases."""
        over = Event()
        threads = [Thread(target=work, args=(over,)) for work in (self._publish, self._beat)]
        for thread in threads:
            thread.start()
        try:
            yield
        finally:
            over.set()
            for thread in threads:
                thread.join()

    def _publish(self, over: Event) -> None:
        """The attempts one after the other within the time of a picture."""
        number, due, watched = 0, time.monotonic(), dict[UUID, int]()
        while not over.is_set():
            number += 1
            if number % FPS == 1:
                watched = {attempt: events.watched_width(attempt) for attempt in self.attempts}
            for attempt in self.attempts:
                due += 1 / FPS / len(self.attempts)
                over.wait(max(0.0, due - time.monotonic()))
                if watched[attempt]:
                    now, (width, height) = time.time(), TILE if watched[attempt] <= TILE[0] else SCREEN
                    meta = {"captured_at": now, "changed_at": now, "answered_at": now, "picture": number, "step": 1}
                    picture = self._pictures[width][number % PICTURES]
                    events.put_frame(attempt, number, picture, {**meta, "width": width, "height": height})

    def _beat(self, over: Event) -> None:
        while not over.wait(2.0):
            self._world.do(claims.worker_heartbeat, self._worker.id, [claim.lease_id for claim in self._claims])


def _picture(seed: int) -> Image.Image:
    """A desktop with windows and text."""
    chance, image = random.Random(seed), Image.new("RGB", SCREEN, "#2b5b84")
    draw = ImageDraw.Draw(image)
    for left, top in ((60, 60), (820, 180), (300, 420)):
        draw.rectangle((left, top, left + 900, top + 580), "#f4f4f4", "#888")
        for line in range(16):
            words = " ".join(str(chance.getrandbits(20)) for _ in range(chance.randrange(2, 12)))
            draw.text((left + 20, top + 20 + line * 22), words, "#202020")
    return image


def _jpeg(image: Image.Image) -> bytes:
    data = io.BytesIO()
    image.save(data, "JPEG", quality=70)
    return data.getvalue()


Measured = tuple[Watched, list[float]]


def measure(
    stack: WorkerStack, episodes: LiveEpisodes, viewers: int, walls: int, steps: int
) -> tuple[list[float], Measured, Measured]:
    """An agent's steps alone, with many viewers of one episode, and with walls of tiles."""
    api = ApiServers(stack.environment, PROCESSES)
    try:
        say("steps without viewers")
        _, alone = remote_steps(stack, api, steps)
        say("viewers of one episode")
        single = _with_viewers(stack, api, episodes.attempts[:1], (viewers, FULL_WIDTH), steps)
        say("walls of tiles")
        wall = _with_viewers(stack, api, episodes.attempts, (walls, TILE[0]), steps)
    finally:
        api.stop()
    return alone, single, wall


def _with_viewers(
    stack: WorkerStack, api: ApiServers, attempts: Sequence[UUID], viewers_of_width: tuple[int, int], steps: int
) -> Measured:
    """`viewers_of_width`: how many of each attempt, and the width of their pictures."""
    line = [sys.executable, "-m", "tools.bench.live_viewers", *map(str, (api.port, *viewers_of_width, *attempts))]
    with subprocess.Popen(line, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as viewers:
        assert viewers.stdout is not None
        assert viewers.stdout.readline() == "watching\n"
        start, service, own = time.monotonic(), api.processor_seconds(), processor_seconds(viewers.pid)
        _, waits = remote_steps(stack, api, steps)
        seconds = time.monotonic() - start
        service, own = api.processor_seconds() - service, processor_seconds(viewers.pid) - own
        ages = json.loads(viewers.communicate(timeout=60)[0])
    return Watched(ages["arrived"], ages["replaced"], ages["lost"], service, own, seconds), waits


def _figures(measured: Measured, alone: Sequence[float], label: str) -> list[Figure]:
    watched, waits = measured
    slower = (percentile(waits, 0.5) / percentile(alone, 0.5) - 1) * 100
    rate = len(watched.arrived) / watched.seconds
    cost = watched.service_seconds / max(1, len(watched.arrived)) * 1e6
    lost = f", {watched.lost} connections lost" if watched.lost else ""
    return [
        figure(f"{label}{lost}: age of a picture when it arrives", f"p95 <= {AGE_MS:.0f} ms", "ms", watched.arrived,
               (0.95, AGE_MS)),
        figure(f"{label}: age when the next one replaces it", "", "ms", watched.replaced, None),
        Figure(f"{label}: pictures a second, to all", "", "/s", (rate,)),
        Figure(f"{label}: processor time of the service for one picture to one viewer", "", "µs", (cost,)),
        figure(f"{label}: an agent's step", "", "ms", waits, None),
        Figure(f"{label}: an agent's median step is longer by", f"< {SLOWER:.0f} %", "%", (slower,), slower < SLOWER),
    ]  # fmt: skip


if __name__ == "__main__":
    sys.exit(main())
