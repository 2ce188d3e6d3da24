"""`make bench-viewers`: our replay beside Inspect's log viewer and MLflow's traces, on the same trajectory.

An episode with pictures of 1280x720 lies in the service. It is exported as Inspect's `.eval`, which `inspect_ai` reads,
and logged to MLflow as a trace with a span per step. Each viewer answers on loopback, one after the other, to the same
Chromium. inspect-ai and mlflow come from PyPI into an environment of their own (`.viewers-env`). Writes its page of
docs/reports; with `--quick` there are fewer steps, and nothing is written.
"""

import argparse
import json
import os
import random
import socket
import subprocess
import sys
import tempfile
import urllib.request
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from typing import Any, NamedTuple

from playwright.sync_api import Browser, Page

from backend.db.models import Episode
from tests.factories.records import World
from tests.waiting import until
from tools.bench import replay
from tools.bench.figures import measured_on, percentile
from tools.separate_environment import make_environment

ROOT = Path(__file__).resolve().parents[2]
PAGE = ROOT / "docs" / "reports" / "performance-viewers.md"
PACKAGES = ("inspect-ai", "mlflow")
STEPS, OPENINGS, SEEKS = 500, 5, 40
SECONDS = 180.0
HEAD = """# Replays beside other viewers

Measured by `make bench-viewers`, which writes this page: one trajectory of {steps} steps with pictures of 1280x720, in
Deskarena's episode page, in Inspect's log viewer (the `.eval` that Deskarena exports, from which `inspect_ai` read
{read}) and in MLflow's trace page (a span per step, its picture in the span's messages). All three were served on
loopback to one Chromium with a window of 1280x720, one after the other, in the same run.

*First step* is the time from the opening of the address, with an empty cache, until a picture of a step is decoded.
*Seek* is the time from a move to a random step (scrubber; place in the list of messages; click on a span) until its
picture is decoded in the window. Bytes are all that the page received, as sent, with pictures; the heap is JavaScript's
after all seeks and a collection.

"""
FIRST = """addEventListener("DOMContentLoaded", () => {
  let clicked = false;
  const look = () => {
    const shown = [...document.images].find((image) => image.complete && image.naturalWidth >= 640);
    if (shown) return shown.decode().then(() => { window.firstStep = performance.now(); });
    const row = window.rowOf(window.firstRow);
    if (row && !clicked) { row.click(); clicked = true; }
    requestAnimationFrame(look);
  };
  look();
});
window.rowOf = (text) => text && [...document.querySelectorAll("span, div")].find(
  (element) => !element.childElementCount && element.textContent === text);
window.shownIn = (old) => [...document.images].find((image) => {
  const place = image.getBoundingClientRect();
  const isNew = image.complete && image.naturalWidth >= 640 && image.src !== old;
  return isNew && place.bottom > 0 && place.top < innerHeight;
});
window.firstRow = "ROW";"""
"""Sets `firstStep` once a picture as wide as a screen is decoded; clicks the row with the text ROW, if there is one."""
SEEK = """([share, text]) => new Promise((resolve) => {
  const rooms = [...document.querySelectorAll("*")].filter((element) =>
    element.scrollHeight > element.clientHeight + 300 && /auto|scroll/.test(getComputedStyle(element).overflowY));
  const room = rooms.sort((a, b) => b.scrollHeight - a.scrollHeight)[0] ?? document.scrollingElement;
  const old = text ? window.shownIn("")?.src : "", start = performance.now();
  if (text) window.rowOf(text).click();
  else room.scrollTop = share * (room.scrollHeight - room.clientHeight);
  const look = () => {
    const shown = window.shownIn(old);
    if (shown) shown.decode().then(() => resolve(performance.now() - start));
    else if (performance.now() - start > 20000) resolve(20000);
    else requestAnimationFrame(look);
  };
  requestAnimationFrame(() => requestAnimationFrame(look));
})"""
"""Clicks the row with that text, or scrolls to that share of the longest list; 20 s stand for never."""


class Viewing(NamedTuple):
    """Measurement of one viewer.

    Attributes:
        first, seeks: milliseconds.
        opened, total: bytes until the first step, and after all seeks.
        heap: megabytes.
    """

    name: str
    first: Sequence[float]
    seeks: Sequence[float]
    opened: float
    total: float
    heap: float


def main() -> int:
    """Measures, writes the page."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    parser.add_argument("--environment", type=Path, default=ROOT / ".viewers-env")
    options = parser.parse_args()
    load, steps = os.getloadavg()[0], 60 if options.quick else STEPS
    python = make_environment(options.environment.resolve(), "3.11", PACKAGES)
    with replay.installation() as (stack, address), replay.chromium() as browser:
        claim = replay.recorded(stack.world, steps)
        middle = f"{address}/episodes/{claim.episode_id}?step={steps // 2}"
        viewings = [view(browser, "Deskarena", middle, lambda window: replay.seeked(window, steps, SEEKS), "")]
        with tempfile.TemporaryDirectory(prefix="viewers-") as name:
            log = Path(name) / "logs" / "run.eval"
            log.parent.mkdir()
            log.write_bytes(exported(stack.world, claim.episode_id, address))
            facts = run(python, "viewers_guest.py", log, Path(name) / "traces")
            with inspect_viewer(python, log, facts) as (title, page_address):
                viewings.append(view(browser, title, page_address, scrolled, ""))
            with mlflow_viewer(python, log, facts) as (title, page_address):
                spans = partial(clicked, steps=facts["spans"])
                viewings.append(view(browser, title, page_address, spans, f"step {facts['spans'] // 2}"))
    read = f"{facts['messages']:,} messages, {facts['events']:,} calls of models"
    markdown = page(viewings, HEAD.format(steps=steps, read=read), load)
    sys.stdout.write(markdown)
    if not options.quick:
        PAGE.write_text(markdown)
    return 0


def exported(world: World, episode_id: Any, address: str) -> bytes:
    """The run's `.eval`."""
    with world.work() as session:
        run_id = session.get_one(Episode, episode_id).run_id
    with urllib.request.urlopen(f"{address}/api/v1/runs/{run_id}/export?format=inspect") as reply:  # noqa: S310 - our own
        data: bytes = reply.read()
    return data


def run(python: Path, program: str, *arguments: Path) -> dict[str, Any]:
    """Runs a program of this folder in the viewers' environment; returns the JSON that it prints last."""
    command = [str(python), str(Path(__file__).parent / program), *map(str, arguments)]
    result = subprocess.run(command, check=True, capture_output=True, text=True, timeout=600)
    facts: dict[str, Any] = json.loads(result.stdout.splitlines()[-1])
    return facts


@contextmanager
def inspect_viewer(python: Path, log: Path, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """`inspect view` on the messages of the sample; its title and address."""
    port = free_port()
    command = [str(python.parent / "inspect"), "view", "start", "--log-dir", str(log.parent), "--port", str(port)]
    path = f"/#/logs/{log.name}/samples/sample/{facts['sample'].replace('/', '%2F')}/1/messages"
    with served(command, port, log.parent):
        yield f"Inspect {facts['inspect']}", f"http://127.0.0.1:{port}{path}"


@contextmanager
def mlflow_viewer(python: Path, log: Path, facts: Mapping[str, Any]) -> Iterator[tuple[str, str]]:
    """MLflow's page of the trace; its title and address."""
    port = free_port()
    command = [str(python.parent / "mlflow"), "server", "--backend-store-uri", facts["store"], "--port", str(port)]
    path = f"/#/experiments/{facts['experiment']}/traces?selectedEvaluationId={facts['trace']}"
    with served([*command, "--workers", "1"], port, log.parent.parent):
        yield f"MLflow {facts['mlflow']}", f"http://127.0.0.1:{port}{path}"


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listener:
        port: int = listener.getsockname()[1]
    return port


@contextmanager
def served(command: Sequence[str], port: int, folder: Path) -> Iterator[None]:
    """A server on loopback, until the end of the block."""
    output = (folder / "server.txt").open("wb")
    process = subprocess.Popen(
        [*command, "--host", "127.0.0.1"],
        cwd=folder,
        env={**os.environ, "HOME": str(folder)},
        stdout=output,
        stderr=output,
    )
    try:
        until(lambda: answers(port), SECONDS, what=f"{command[0]} answers")
        yield
    finally:
        process.terminate()
        process.wait(30)
        output.close()


def answers(port: int) -> bool:
    try:
        with socket.create_connection(("127.0.0.1", port), 1):
            return True
    except OSError:
        return False


class Received:
    """Bytes that a page receives, as sent; what its cache has is not received."""

    def __init__(self, window: Page) -> None:
        self.bytes = 0.0
        session = window.context.new_cdp_session(window)
        session.on("Network.loadingFinished", self._on_finished)
        session.send("Network.enable")

    def _on_finished(self, event: dict[str, Any]) -> None:
        self.bytes += event["encodedDataLength"]


def view(browser: Browser, name: str, address: str, seek: Callable[[Page], Sequence[float]], row: str) -> Viewing:
    """Opens the address in fresh browsers, then seeks in the last one; `row` is clicked for the first step."""
    first: list[float] = []
    for last in (*[False] * (OPENINGS - 1), True):
        with browser.new_context(viewport={"width": 1280, "height": 720}, bypass_csp=True) as context:
            context.add_init_script(FIRST.replace("ROW", row))
            window = context.new_page()
            received = Received(window)
            window.goto(address)
            window.wait_for_function("window.firstStep", timeout=SECONDS * 1000)
            first.append(float(window.evaluate("window.firstStep")))
            if last:
                opened = received.bytes
                seeks = seek(window)
                return Viewing(name, first, seeks, opened, received.bytes, replay.heap_of(window))
    raise AssertionError("the last opening returns")


def scrolled(window: Page) -> list[float]:
    """Milliseconds of moves to random places of the list."""
    dice = random.Random(1)
    return [window.evaluate(SEEK, [dice.random(), ""]) for _ in range(SEEKS)]


def clicked(window: Page, steps: int) -> list[float]:
    """Milliseconds of clicks on random spans."""
    dice = random.Random(1)
    places = [dice.randrange(steps // 4) * 4 + 1 + number % 2 for number in range(SEEKS)]  # No step twice in a row.
    return [window.evaluate(SEEK, [0.0, f"step {min(step, steps - 1)}"]) for step in places]


def page(viewings: Sequence[Viewing], head: str, load: float) -> str:
    """The figures in Markdown."""
    lines = [
        "| viewer | first step p50 | p95 | seek p50 | p95 | MB until the first step | MB in all | heap |",
        "|---|---|---|---|---|---|---|---|",
    ]
    for viewing in viewings:
        times = (
            f"{percentile(values, share):,.0f} ms" for values in (viewing.first, viewing.seeks) for share in (0.5, 0.95)
        )
        received = f"{viewing.opened / 1e6:.2f} | {viewing.total / 1e6:.2f} | {viewing.heap:.0f} MB"
        lines.append(f"| {viewing.name} | {' | '.join(times)} | {received} |")
    seeks = f"{OPENINGS} openings and {SEEKS} seeks each."
    return f"{head}{measured_on(load)}\n\n" + "\n".join(lines) + f"\n\n{seeks}\n"


if __name__ == "__main__":
    sys.exit(main())
