"""`make bench-observe`: measures what observation spaces add once the screen and the tree are there.

A real LibreOffice Calc on a local desktop of 1920x1080, and a tree of 10,000 nodes that all count. Writes
docs/reports/performance-observe.md; ends with 1 if an aim is missed. With `--quick` it takes fewer samples and writes
nothing.
"""

import argparse
import os
import sys
import tempfile
import time
from collections.abc import Callable, Sequence
from datetime import UTC, datetime
from pathlib import Path

from backend.config import Settings
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ImageView, ScreenSize
from backend.domain.model.trajectory import Frame, Mark
from backend.domain.observations.set_of_marks import SetOfMarks
from backend.domain.ports.desktop import Desktop, DesktopSpec
from backend.domain.screen.image import in_view, view_of
from backend.domain.screen.tree import linear
from tests.factories.trees import large_tree
from tests.fakes.desktop import FakeDesktop
from tools.bench.figures import Figure, machine
from worker.perception.ocr import read, tesseract
from worker.providers.local import LocalProvider

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-observe.md"
NODES = 10_000
MOST_MARKS, MOST_LINES = 150.0, 100.0
OPENING = 60.0
HEAD = """# Performance of the observation spaces

Measured by `make bench-observe`, which writes this page: what is computed from a screen and a tree that are there, on
one processor. The screen is a real LibreOffice Calc on a local desktop of 1920x1080; of the large tree every node
counts, which no application's does. The aims hold for the processor's time, which a busy machine changes least; the
clock is shown beside.

"""
Samples = tuple[list[float], list[float]]
"""Milliseconds of the processor, and of the clock."""


def main() -> int:
    """Measures, writes the page; the exit code tells whether all targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--quick", action="store_true")
    quick = parser.parse_args().quick
    times = 5 if quick else 40
    load = os.getloadavg()[0]
    frame, tree = calc_screen()
    figures = [*of_calc(frame, tree, times), *of_a_large_tree(times)]
    text = page(figures, load, described(frame, tree))
    sys.stdout.write(text)
    if not quick:
        PAGE.write_text(text)
    return 0 if all(figure.met is not False for figure in figures) else 1


def calc_screen() -> tuple[Frame, str]:
    """A screen with an empty spreadsheet and its tree, from a real desktop."""
    with tempfile.TemporaryDirectory(prefix="bench-", ignore_cleanup_errors=True) as folder:
        provider = LocalProvider(Settings(data_dir=Path(folder)))
        try:
            opened = provider.open(SlotRef(0), DesktopSpec())
            try:
                return _opened_calc(opened.desktop)
            finally:
                opened.close()
        finally:
            provider.close()


def _opened_calc(desktop: Desktop) -> tuple[Frame, str]:
    desktop.launch(["soffice", "--calc", "--norestore"])
    end = time.monotonic() + OPENING
    while time.monotonic() < end:
        desktop.wait_stable(quiet=1.0, timeout=10.0)
        tree = desktop.accessibility_tree()
        if "<table-cell" in tree:
            return desktop.frame(), tree
    raise SystemExit("LibreOffice Calc did not open within a minute; is it installed? make setup APPS=full")


def of_calc(frame: Frame, tree: str, times: int) -> list[Figure]:
    """Figures of the spreadsheet's screen."""
    half = view_of(ImageView(scale=0.5), frame.width, frame.height)
    figures = [
        *rows("set-of-marks from the tree: filter, merge, draw, encode", MOST_MARKS, times, lambda: marks(frame, tree)),
        *rows("the same tree in lines", None, times, lambda: linear(tree)),
        *rows("the screen at half its size", None, times, lambda: in_view(frame, half)),
    ]
    if tesseract() is not None:
        _, clock = sampled(3, lambda: read(frame))
        figures.append(Figure("reading the screen with Tesseract, clock", "", "ms", tuple(clock)))
    return figures


class StillDesktop(FakeDesktop):
    """A desktop that gives the same screen and tree at once."""

    def __init__(self, frame: Frame, tree: str) -> None:
        super().__init__(ScreenSize(width=frame.width, height=frame.height))
        self._frame = frame
        self.tree = tree

    def frame(self, *, quality: int = 85) -> Frame:  # noqa: ARG002 - the port's parameter.
        return self._frame


def marks(frame: Frame, tree: str) -> Sequence[Mark]:
    """Marks that `set_of_marks` returns by default."""
    return SetOfMarks().observe(StillDesktop(frame, tree), 0).marks or ()


def of_a_large_tree(times: int) -> list[Figure]:
    """Figures of the tree of 10,000 nodes."""
    tree = large_tree(NODES)
    return [
        *rows(f"a tree of {NODES:,} nodes in lines", MOST_LINES, times, lambda: linear(tree)),
        *rows("the same, cut at 10,000 tokens", MOST_LINES, times, lambda: linear(tree, most_tokens=10_000)),
    ]


def rows(label: str, most: float | None, times: int, call: Callable[[], object]) -> list[Figure]:
    """Two rows: by the processor, with the aim, and by the clock. The aim is about the median."""
    processor, clock = sampled(times, call)
    met = None if most is None else sorted(processor)[len(processor) // 2] <= most
    aim = "" if most is None else f"p50 <= {most:g} ms"
    return [Figure(label, aim, "ms", tuple(processor), met), Figure("— by the clock", "", "ms", tuple(clock))]


def sampled(times: int, call: Callable[[], object]) -> Samples:
    """Milliseconds of each call, after one that is not counted."""
    call()
    processor, clock = [], []
    for _ in range(times):
        before, began = time.process_time(), time.perf_counter()
        call()
        processor.append((time.process_time() - before) * 1000)
        clock.append((time.perf_counter() - began) * 1000)
    return processor, clock


def described(frame: Frame, tree: str) -> str:
    """Description of the screen."""
    labels = marks(frame, tree)
    return f"Calc's tree has {tree.count('<') // 2:,} nodes and {len(tree) // 1024:,} KiB; {len(labels)} were marked."


def page(figures: Sequence[Figure], load: float, about: str) -> str:
    when = f"{datetime.now(UTC):%Y-%m-%d %H:%M}"
    busy = ", work of others on the machine, which slows everything here" if load > 1 else ""
    lines = [
        f"Machine: {machine()}. Measured {when} UTC; the load average was {load:.1f}{busy}.",
        about,
        "",
        "| what | aim | p50 | p95 | n |",
        "|---|---|---|---|---|",
        *(figure.row() for figure in figures),
    ]
    return HEAD + "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main())
