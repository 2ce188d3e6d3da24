"""Time and memory of every metric on an input of 1 MB and of 20 MB: `make bench-metrics`.

Each call runs in a separate process under the limits of an evaluation. Writes docs/reports/performance-metrics.md and
ends with 1 if a metric takes more than 2 s of the processor on 1 MB or if the worker is slow to import. The clock is
shown beside: on a busy machine it tells more of the neighbours than of the metric.
"""

import argparse
import json
import os
import pickle
import platform
import resource
import subprocess
import sys
import tempfile
import time
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.registry import PluginKind
from tests.factories.metric_cases import all_cases
from worker.evaluation.limits import ChildLimits, apply, collect_seldom

ROOT = Path(__file__).parents[2]
PAGE = ROOT / "docs" / "reports" / "performance-metrics.md"
SIZES = {"1 MB": 10**6, "20 MB": 20 * 10**6}
MOST_SECONDS, MOST_IMPORT = 2.0, 1.5


@dataclass(frozen=True)
class CallFigure:
    """One call: seconds of the clock and of the processor, MiB at most, and how it ended if not with a value."""

    wall: float = 0.0
    processor: float = 0.0
    memory: float = 0.0
    words: str = ""

    def __str__(self) -> str:
        return self.words or f"{self.processor:.2f} s ({self.wall:.2f}), {self.memory:.0f} MiB"


def main() -> int:
    """Measures, writes the page, prints what is too slow."""
    options = _options()
    if options.one:
        return _run_child()
    started = _import_seconds()
    figures = {key: measured(key) for key in sorted(all_cases()) if options.only in key[1]}
    slow = sorted(
        f"{name} ({dialect})" for (dialect, name), timings in figures.items() if _is_too_slow(timings["1 MB"])
    )
    text = page(figures, started, slow)
    if options.only:
        sys.stdout.write(text)
    else:
        PAGE.write_text(text)
    for name in slow:
        sys.stderr.write(f"more than {MOST_SECONDS:g} s of the processor on 1 MB: {name}\n")
    return int(bool(slow) or started[0] > MOST_IMPORT)


def measured(key: tuple[str, str]) -> dict[str, CallFigure]:
    """Size -> figure of one metric."""
    sys.stderr.write(f"{key[1]} ({key[0]})\n")
    return {label: _in_a_child(key, size) for label, size in SIZES.items()}


def page(
    figures: dict[tuple[str, str], dict[str, CallFigure]], started: tuple[float, float], slow: Sequence[str]
) -> str:
    """The page with the table."""
    rows = [
        f"| `{name}` | {dialect} | {' | '.join(str(timings[label]) for label in SIZES)} |"
        for (dialect, name), timings in sorted(figures.items(), key=lambda item: item[0][::-1])
    ]
    verdict = f"Over {MOST_SECONDS:g} s on 1 MB: {', '.join(slow) or 'none'}."
    return f"""# Performance of the metrics

Written by `make bench-metrics`: each metric once on an input of about 1 MB and of about 20 MB, in a process of its own
under the limits of an evaluation. Seconds of the processor (of the clock), then the process's memory at its highest, of
which importing the product takes a part. A metric without a size worth measuring has a dash.

Measured on {os.cpu_count()} cores, Python {platform.python_version()}. {verdict}
`import worker.app`: {started[0]:.2f} s of the processor, {started[1]:.2f} s of the clock (at most {MOST_IMPORT:g} s).

| metric | dialect | {" | ".join(SIZES)} |
|---|---|{"---|" * len(SIZES)}
""" + "".join(f"{row}\n" for row in rows)


def _is_too_slow(figure: CallFigure) -> bool:
    return figure.processor > MOST_SECONDS or figure.words not in {"", "-"}


def _in_a_child(key: tuple[str, str], size: int) -> CallFigure:
    case = all_cases()[key]
    if case.sized is None:
        return CallFigure(words="-")
    with tempfile.TemporaryDirectory() as folder:
        inputs = case.sized(Path(folder), size)
        request = pickle.dumps((key, inputs.args, dict(inputs.options)))
        try:
            result = subprocess.run(
                [sys.executable, "-m", "tools.bench.metrics", "--one"],
                input=request,
                capture_output=True,
                cwd=ROOT,
                timeout=ChildLimits().wall,
                check=False,
            )
        except subprocess.TimeoutExpired:
            return CallFigure(words=f"longer than {ChildLimits().wall:g} s")
    if result.returncode:
        return CallFigure(words=f"ended with {result.returncode}")
    return CallFigure(**json.loads(result.stdout))


def _run_child() -> int:
    """In the child: one call, its figure as JSON."""
    key, args, options = pickle.loads(sys.stdin.buffer.read())  # noqa: S301 - our own parent wrote it.
    registry.load()
    metric: Any = registry.entries(PluginKind.METRIC)[key]
    apply(ChildLimits(), None)
    collect_seldom()
    wall, processor, words = time.perf_counter(), time.process_time(), ""
    try:
        metric(*args, **options)
    except DeskarenaError as error:
        words = error.message[:60]
    wall, processor = time.perf_counter() - wall, time.process_time() - processor
    memory = _highest()
    sys.stdout.write(json.dumps({"wall": wall, "processor": processor, "memory": memory, "words": words}))
    return 0


def _highest() -> float:
    """Peak memory of this process in MiB. The kernel's `ru_maxrss` would include the parent."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(float(line.split()[1]) / 1024 for line in lines if line.startswith("VmHWM"))


def _import_seconds() -> tuple[float, float]:
    """The best of three: seconds of the processor and of the clock that a worker takes for its own code."""
    timings = []
    for _ in range(3):
        before, began = _children(), time.perf_counter()
        subprocess.run([sys.executable, "-c", "import worker.app"], cwd=ROOT, check=True)
        timings.append((_children() - before, time.perf_counter() - began))
    return min(timings)


def _children() -> float:
    used = resource.getrusage(resource.RUSAGE_CHILDREN)
    return used.ru_utime + used.ru_stime


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--only", default="", help="part of a metric's name; the table goes to standard output")
    parser.add_argument("--one", action="store_true", help=argparse.SUPPRESS)
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
