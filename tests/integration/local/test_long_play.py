"""The random agent plays on one desktop for a long time: nothing leaks, nothing hangs.

`make test` plays 60 steps, `make test-all` 1,000. `pytest --log-cli-level=INFO` shows the figures.
"""

import logging
import os
import time
from collections.abc import Iterator
from dataclasses import dataclass, field

import psutil
import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.loop.agent_loop import LoopDependencies, LoopProgress, Rules, run_episode
from backend.domain.machines.slots import SlotRef
from backend.domain.model.episode import EndedBy
from backend.domain.model.run import Budget, RunConfig, ScreenSize
from backend.domain.model.trajectory import StepRecord
from backend.domain.ports.agent import AgentContext
from backend.domain.ports.desktop import Desktop, DesktopSpec
from backend.domain.registry import PluginKind
from tests.factories.tasks import make_task
from tests.processes import select_living
from tests.sampling import runs_everything, seed
from worker.providers.local import LocalProvider

logger = logging.getLogger(__name__)
pytestmark = [pytest.mark.desktop, pytest.mark.timeout(3600)]
STEPS = 1000 if runs_everything() else 60
WARM_UP = 100 if runs_everything() else 20
STEP_SECONDS = 15.0
"""A step's deadline: that of one request to a desktop. The loop waits 2 s at most for the screen to be still."""
GUEST_GROWTH = 24 * 2**20
WORKER_GROWTH = 48 * 2**20
"""Bytes of resident memory; a leak of one frame per step would be 1,000 times 4 MB."""
CLIENTS = "from Xlib import display; d = display.Display(); print(len(d.res_query_clients().clients))"
PROGRAMS = ("mousepad", "galculator", "thunar")


@pytest.fixture(scope="module")
def desktop(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Desktop]:
    """One desktop for the whole play."""
    registry.load()
    provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("play")))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    yield provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=1280, height=800))).desktop
    provider.close()


@dataclass
class Stopwatch:
    """A recorder that keeps when each step was, and no picture."""

    at: list[float] = field(default_factory=list)

    def step(self, _: StepRecord) -> None:
        self.at.append(time.monotonic())

    def flush(self) -> None:
        """Nothing is written."""

    def cancelled(self) -> bool:
        return False


class LongPlayClock:
    """The real clock."""

    def now(self) -> float:
        return time.monotonic()

    def sleep(self, seconds: float) -> None:
        # The loop waits on the screen; nothing here may wait a fixed time.
        raise AssertionError(f"the loop slept {seconds} s")


@dataclass(frozen=True)
class DesktopResources:
    """Resources that are held at one moment."""

    x_clients: int
    guest_handles: int | None
    guest_memory: int
    worker_handles: int
    worker_memory: int
    x_memory: int


def play(desktop: Desktop, steps: int, episode_seed: int) -> Stopwatch:
    """The random agent for this many steps."""
    plugin = registry.lookup(PluginKind.AGENT, "random")
    space = registry.lookup(PluginKind.OBSERVATION, plugin.observation)()
    config = RunConfig(agent="random", budget=Budget(max_steps=steps, max_seconds=86_400.0))
    rules = Rules.for_task(config, make_task())
    watch = Stopwatch()
    told = AgentContext(instruction="", screen=desktop.screen, max_steps=steps, seed=episode_seed)
    parts = LoopDependencies(plugin(plugin.Params()), desktop, space, watch, LongPlayClock())
    assert run_episode(parts, told, rules, LoopProgress()) is EndedBy.STEPS
    return watch


def one(words: str) -> psutil.Process:
    """The process below this one whose command line has these words, and whose parent's has not."""
    below = psutil.Process().children(recursive=True)
    return select_living(below, lambda each: words in " ".join(each.cmdline()) and "bwrap" not in each.name())[-1]


def held(desktop: Desktop) -> DesktopResources:
    """Counted with no window open, so that what is left belongs to the desktop itself."""
    desktop.call("POST", "/setup/close_all", {})
    said = desktop.run_python(CLIENTS)
    assert said.returncode == 0, said.error
    guest, server, own = one("guest_server.linux.session"), one("Xvfb"), psutil.Process()
    return DesktopResources(
        x_clients=int(said.output),
        # The guest server keeps its handles from programs of its own user, so only root can count them.
        guest_handles=guest.num_fds() if os.geteuid() == 0 else None,
        guest_memory=guest.memory_info().rss,
        worker_handles=len(os.listdir("/proc/self/fd")),  # noqa: PTH208 - names are enough
        worker_memory=own.memory_info().rss,
        x_memory=server.memory_info().rss,
    )


def opened(desktop: Desktop) -> None:
    """Something to click at."""
    for program in PROGRAMS:
        desktop.launch([program])
    desktop.wait_stable(quiet=1.0, timeout=30.0)


class TestLongPlay:
    def test_nothing_leaks_and_nothing_hangs(self, desktop: Desktop) -> None:
        opened(desktop)
        play(desktop, WARM_UP, seed() + 1)
        before = held(desktop)
        opened(desktop)
        began = time.monotonic()
        watch = play(desktop, STEPS, seed() + 2)
        after = held(desktop)
        took = [late - early for early, late in zip([began, *watch.at], watch.at, strict=False)]
        logger.info("%d steps in %.0f s, longest %.2f s", STEPS, watch.at[-1] - began, max(took))
        logger.info("before: %s", before)
        logger.info("after: %s", after)
        assert len(watch.at) >= STEPS
        assert max(took) < STEP_SECONDS
        assert after.x_clients <= before.x_clients
        if before.guest_handles is not None and after.guest_handles is not None:
            assert after.guest_handles <= before.guest_handles
        assert after.worker_handles <= before.worker_handles
        assert after.guest_memory - before.guest_memory < GUEST_GROWTH
        assert after.worker_memory - before.worker_memory < WORKER_GROWTH
