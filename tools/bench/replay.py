"""`make bench-replay`: measures the page of an episode in Chromium, with 500 steps and while it is live.

An attempt of 500 steps with pictures of 1280x720 and accessibility trees lies in a real PostgreSQL; a process of the
service answers on loopback. The clock of a step runs from the move of the scrubber until its picture is decoded. Then a
live episode makes 60 steps, and what its page receives is counted. Writes its page of docs/reports; ends with 1 if an
aim is missed. With `--quick` there are 120 steps, fewer samples, and nothing is written.
"""

import argparse
import os
import random
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from playwright.sync_api import Browser, Page, sync_playwright

from backend.db.models import Worker
from backend.domain.model.episode import EndedBy
from backend.services import events
from backend.services.attempts import attempts
from backend.services.capacity.workers import worker_heartbeat
from backend.services.scheduling.claims import Claim
from tests.factories import scene
from tests.factories.records import World
from tests.integration.worker.stack import WorkerStack
from tools.bench.figures import Figure, page, percentile
from tools.bench.viewer import ApiServers

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-replay.md"
STEPS, OPENINGS, SEEKS, LIVE_STEPS = 500, 20, 200, 60
STEPS_PER_HEARTBEAT = 20
FIRST_MS, SEEK_MS, HEAP_MB, LIVE_KB = 500.0, 100.0, 50.0, 150.0
HEAD = f"""# Performance of replays

Measured by `make bench-replay`, which writes this page: the page of an episode of {{steps}} steps with pictures of
1280x720 and accessibility trees, in Chromium with a window of 1280x720, from a process of the service on loopback. A
browser opens the page with an empty cache; *first step* is the time until the picture of the step in the middle is
decoded. *Seek* is the time from a move of the scrubber to a random step until its picture is decoded; most steps are in
a part of the list that has to be fetched first. The heap is JavaScript's after all seeks and a collection. Bytes are as
sent, compressed, with headers. The live episode makes {LIVE_STEPS} steps, one after the other as its page shows them;
*beside its pictures* means the page, new steps and the stream of events, with styles, scripts and fonts in the cache as
after a first visit. Database, service and browser share the
machine.

"""
TEXT = 1
"""Opcode of a websocket's text; RFC 6455, section 5.2."""
FIRST_STEP = """addEventListener("DOMContentLoaded", async () => {
  await document.querySelector(".stage .canvas img")?.decode();
  window.firstStep = performance.now();
});"""
SEEK = """(number) => new Promise((resolve) => {
  const stage = document.querySelector(".stage"), scrub = stage.querySelector("input[type=range]");
  const start = performance.now();
  new MutationObserver((_, watcher) => {
    if (stage.dataset.shown !== String(number)) return;
    watcher.disconnect();
    resolve(performance.now() - start);
  }).observe(stage, { attributeFilter: ["data-shown"] });
  scrub.value = number;
  scrub.dispatchEvent(new Event("input", { bubbles: true }));
})"""


class Traffic:
    """Bytes that a page receives from now on, as sent, without pictures; what its cache has is not received."""

    def __init__(self, window: Page) -> None:
        self.bytes = 0.0
        self._pictures: set[str] = set()
        session = window.context.new_cdp_session(window)
        session.on("Network.requestWillBeSent", self._on_request)
        session.on("Network.loadingFinished", self._on_finished)
        session.on("Network.webSocketFrameReceived", self._on_frame)
        session.send("Network.enable")

    def _on_request(self, event: dict[str, Any]) -> None:
        if event.get("type") == "Image":
            self._pictures.add(event["requestId"])

    def _on_finished(self, event: dict[str, Any]) -> None:
        if event["requestId"] not in self._pictures:
            self.bytes += event["encodedDataLength"]

    def _on_frame(self, event: dict[str, Any]) -> None:
        frame = event["response"]
        if frame["opcode"] == TEXT:  # Others are live pictures.
            self.bytes += len(frame["payloadData"])


def main() -> int:
    """Measures, writes the page; the exit code tells whether all aims were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load, steps = os.getloadavg()[0], 120 if quick else STEPS
    with installation() as (stack, address), chromium() as browser:
        claim = recorded(stack.world, steps)
        figures = replay(browser, f"{address}/episodes/{claim.episode_id}", steps, 5 if quick else 1)
        figures.append(live(browser, stack.world, address))
    markdown = page(figures, load, HEAD.format(steps=steps))
    sys.stdout.write(markdown)
    if not quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met is not False for figure in figures) else 1


@contextmanager
def installation() -> Iterator[tuple[WorkerStack, str]]:
    """Database, broker and a process of the service; its address."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        stack = WorkerStack(Path(folder), durable=True)
        events.configure(stack.redis_url)
        servers = ApiServers(stack.environment)
        try:
            yield stack, f"http://127.0.0.1:{servers.port}"
        finally:
            servers.stop()
            events.configure("")
            stack.close()


@contextmanager
def chromium() -> Iterator[Browser]:
    """The browser, with exact figures of its memory."""
    flags = ["--no-sandbox", "--disable-gpu", "--enable-precise-memory-info"]
    with sync_playwright() as playwright:
        browser = playwright.chromium.launch(executable_path="/usr/bin/chromium", args=flags)
        yield browser
        browser.close()


def started_attempt(world: World, worker: Worker) -> Claim:
    """An attempt of this worker whose agent may act."""
    world.submit("random", tasks=("files/rename-report",))
    claim = world.must_claim(worker)
    world.do(attempts.enter_running, claim.fence, {"reset": 0.5})
    return claim


def add_step(world: World, worker: Worker, claim: Claim, index: int, *, final: bool = False) -> None:
    """Records a step of an attempt, and renews its lease often enough for a slow machine."""
    if index % STEPS_PER_HEARTBEAT == 0:
        world.do(worker_heartbeat, worker.id, [claim.lease_id])
    scene.step(world, claim, index, final=final)


def recorded(world: World, steps: int) -> Claim:
    """An ended attempt with this number of steps."""
    world.benchmark(scene.tasks())
    worker = world.worker("bench", capabilities=scene.abilities())
    claim = started_attempt(world, worker)
    for index in range(steps):
        add_step(world, worker, claim, index, final=index == steps - 1)
    world.do(attempts.enter_evaluating, claim.fence, EndedBy.DONE, {})
    scene.finish(world, claim, 0.5)
    return claim


def replay(browser: Browser, address: str, steps: int, fewer: int) -> list[Figure]:
    """First step, seek, heap, size of the page."""
    first, sent = [], 0.0
    for _ in range(OPENINGS // fewer):
        with opened(browser, f"{address}?step={steps // 2}") as (window, traffic):
            first.append(float(window.evaluate("window.firstStep")))
            sent = traffic.bytes
    with opened(browser, f"{address}?step={steps // 2}") as (window, _):
        elements = float(window.evaluate("document.querySelectorAll('*').length"))
        seeks = seeked(window, steps, SEEKS // fewer)
        heap = heap_of(window)
    return [
        Figure(f"first step of {steps}", f"p95 <= {FIRST_MS:.0f} ms", "ms", tuple(first), p95(first) <= FIRST_MS),
        Figure("seek", f"p95 <= {SEEK_MS:.0f} ms", "ms", tuple(seeks), p95(seeks) <= SEEK_MS),
        Figure("heap after all seeks", f"< {HEAP_MB:.0f} MB", "MB", (heap,), heap < HEAP_MB),
        Figure("page with an empty cache, beside its pictures", "", "kB", (sent / 1000,)),
        Figure("elements of the page", "", "", (elements,)),
    ]


def p95(values: list[float]) -> float:
    return percentile(values, 0.95)


@contextmanager
def opened(browser: Browser, address: str) -> Iterator[tuple[Page, Traffic]]:
    """The page in a browser with an empty cache, and what it has received."""
    with browser.new_context(viewport={"width": 1280, "height": 720}) as context:
        context.add_init_script(FIRST_STEP)
        window = context.new_page()
        traffic = Traffic(window)
        window.goto(address)
        window.wait_for_function("window.firstStep")
        window.locator("html[data-ready]").wait_for(state="attached")
        yield window, traffic


def seeked(window: Page, steps: int, number: int) -> list[float]:
    """Milliseconds of seeks to random steps."""
    dice = random.Random(1)  # noqa: S311 - places, no secrets
    places = [steps // 2]
    while len(places) <= number:
        step = dice.randrange(steps)
        if step != places[-1]:
            places.append(step)
    return [window.evaluate(SEEK, step) for step in places[1:]]


def heap_of(window: Page) -> float:
    """Megabytes of JavaScript's heap after a collection."""
    session = window.context.new_cdp_session(window)
    session.send("HeapProfiler.collectGarbage")
    return float(session.send("Runtime.getHeapUsage")["usedSize"]) / 1e6


def live(browser: Browser, world: World, address: str) -> Figure:
    """Requests of a live episode's page while its agent acts."""
    worker = world.worker("bench", capabilities=scene.abilities())
    claim = started_attempt(world, worker)
    add_step(world, worker, claim, 0)
    with opened(browser, f"{address}/episodes/{claim.episode_id}") as (window, _):
        window.goto("about:blank")
        traffic = Traffic(window)
        window.goto(f"{address}/episodes/{claim.episode_id}")
        window.locator("[data-stream][data-state=on]").wait_for()
        for index in range(1, LIVE_STEPS):
            add_step(world, worker, claim, index)
            window.locator(f"#step-{index}").wait_for(state="attached")
        sent = traffic.bytes / 1000
    label = f"live episode of {LIVE_STEPS} steps, beside its pictures"
    return Figure(label, f"<= {LIVE_KB:.0f} kB", "kB", (sent,), sent <= LIVE_KB)


if __name__ == "__main__":
    sys.exit(main())
