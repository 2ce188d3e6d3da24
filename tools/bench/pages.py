"""`make bench-pages`: measures when pages paint and how long their scripts keep a slow processor busy, in Chromium.

An installation with runs, a board, live attempts and an ended attempt of 500 steps lies in a real PostgreSQL; a process
of the service answers on loopback. Writes its page of docs/reports; ends with 1 if an aim is missed. With `--quick`
there are 120 steps, fewer samples, and nothing is written.
"""

import argparse
import os
import sys
from collections.abc import Mapping
from pathlib import Path

from playwright.sync_api import Browser

from tests.factories.records import World
from tests.factories.scene import make_scene
from tools.bench.figures import Figure, page, percentile
from tools.bench.replay import chromium, installation, recorded

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-pages.md"
STEPS, OPENINGS = 500, 20
SLOWER = 4
PAINT_MS, TASK_MS = 1000.0, 200.0
HEAD = f"""# Performance of pages on a slow machine

Measured by `make bench-pages`, which writes this page: Chromium with a window of 1280x720 opens each page with an empty
cache, its processor slowed down {SLOWER} times (Chromium's CPU throttling), from a process of the service on loopback.
*First paint* is the first contentful paint, *longest task* the longest stretch in which the page could not answer until
it has nothing left to do. Tasks under 50 ms are not reported by browsers and count as 0. Database, service and browser
share the machine; only the browser is slowed down.

"""
OBSERVE = """window.tasks = [];
new PerformanceObserver((list) => {
  window.tasks.push(...list.getEntries().map((task) => task.duration));
}).observe({ type: "longtask", buffered: true });
window.paint = new Promise((resolve) => {
  new PerformanceObserver((list, observer) => {
    const [first] = list.getEntriesByName("first-contentful-paint");
    if (!first) return;
    observer.disconnect();
    resolve(first.startTime);
  }).observe({ type: "paint", buffered: true });
});"""
IDLE = "() => new Promise((done) => requestIdleCallback(() => setTimeout(() => requestIdleCallback(done), 500)))"


def main() -> int:
    """Measures, writes the page; the exit code tells whether all aims were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    load, figures = os.getloadavg()[0], []
    with installation() as (stack, address), chromium() as browser:
        for name, path in pages_of(stack.world, 120 if quick else STEPS).items():
            figures += measured(browser, name, address + path, 3 if quick else OPENINGS)
    markdown = page(figures, load, HEAD)
    sys.stdout.write(markdown)
    if not quick:
        PAGE.write_text(markdown)
    return 0 if all(figure.met for figure in figures) else 1


def pages_of(world: World, steps: int) -> Mapping[str, str]:
    """Addresses of the measured pages, of an installation that is empty before."""
    long = recorded(world, steps)
    scene = make_scene(world)
    return {
        "home": "/",
        "run": f"/runs/{scene.finished}",
        "board": "/leaderboards/starter",
        f"episode of {steps} steps": f"/episodes/{long.episode_id}",
    }


def measured(browser: Browser, name: str, address: str, openings: int) -> list[Figure]:
    """First paint and longest task of a page."""
    paints, tasks = [], []
    for _ in range(openings):
        with browser.new_context(viewport={"width": 1280, "height": 720}) as context:
            context.add_init_script(OBSERVE)
            window = context.new_page()
            context.new_cdp_session(window).send("Emulation.setCPUThrottlingRate", {"rate": SLOWER})
            window.goto(address)
            window.locator("html[data-ready]").wait_for(state="attached")
            window.evaluate(IDLE)
            paints.append(float(window.evaluate("window.paint")))
            tasks.append(max(window.evaluate("window.tasks"), default=0.0))
    paint, task = percentile(paints, 0.95), max(tasks)
    return [
        Figure(f"{name}: first paint", f"p95 <= {PAINT_MS:.0f} ms", "ms", tuple(paints), paint <= PAINT_MS),
        Figure(f"{name}: longest task", f"all <= {TASK_MS:.0f} ms", "ms", tuple(tasks), task <= TASK_MS),
    ]


if __name__ == "__main__":
    sys.exit(main())
