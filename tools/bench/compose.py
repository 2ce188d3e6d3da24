"""`make bench-compose`: 36,000 tasks composed over all ten capabilities, with instructions, checked.

Writes docs/reports/performance-compose.md; ends with 1 if it takes longer than five minutes, two tasks are the same, or
one differs from its requirements. With `--tasks N` it composes fewer and writes nothing.
"""

import argparse
import sys
import time
from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from itertools import islice
from pathlib import Path

from backend.domain.benchmarks import read_pool
from backend.domain.omnibench.complexity import CAPABILITIES
from backend.domain.omnibench.compose import compose, for_capability
from backend.domain.omnibench.consistency import problems
from backend.domain.omnibench.instructions import task_of
from backend.domain.omnibench.task_file import Pool
from tests.factories.omnibench import wide_pool
from tools.bench.figures import machine

PAGE = Path(__file__).resolve().parents[2] / "docs" / "reports" / "performance-compose.md"
TASKS, MOST_SECONDS = 36_000, 300.0
HEAD = """# Performance of composing

Measured by `make bench-compose`, which writes this page: OmniBench's number of tasks, over all ten capabilities in
turn, each told on both levels and checked by the consistency validator, in one process. The pool has fifty subtasks of
ten applications with six sets of parameters each.

"""


@dataclass(frozen=True)
class ComposeFigures:
    """Result of the benchmark: tasks, seconds of the clock and of the processor, and what must be 0."""

    tasks: int
    wall: float
    processor: float
    same: int
    outside: int
    unclear: int
    served: Mapping[str, int]

    @property
    def met(self) -> bool:
        """All that is promised."""
        return self.wall <= MOST_SECONDS and not (self.same or self.outside or self.unclear)


def main() -> int:
    """Measures, writes the page; the exit code tells whether the targets were met."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--tasks", type=int, default=TASKS)
    parser.add_argument("--pool", type=Path, default=None)
    options = parser.parse_args()
    result = measured(options.tasks, read_pool(options.pool.resolve(), []) if options.pool else wide_pool())
    text = page(result)
    if options.tasks == TASKS and options.pool is None:
        PAGE.write_text(text)
    sys.stdout.write(text)
    return 0 if result.met else 1


def measured(tasks: int, pool: Pool) -> ComposeFigures:
    targets = [for_capability(letters) for letters in CAPABILITIES]
    wall, processor = time.monotonic(), time.process_time()
    served: Counter[str] = Counter()
    known, outside, unclear = set(), 0, 0
    for number, composition in enumerate(islice(compose(pool, targets, seed=1), tasks)):
        task = task_of(composition, str(number), pool)
        unclear += bool(problems(task, pool))
        known.add(composition.graph.canonical())
        letters = composition.complexity.capabilities()
        outside += composition.request.capability not in letters
        served.update(letters)
    spent = time.monotonic() - wall, time.process_time() - processor
    return ComposeFigures(tasks, *spent, tasks - len(known), outside, unclear, served)


def page(result: ComposeFigures) -> str:
    """The figures in Markdown."""
    rows = [
        f"| time | at most {MOST_SECONDS:g} s | {result.wall:.0f} s, {result.processor:.0f} s of the processor |",
        f"| composed twice | 0 | {result.same} |",
        f"| not hard where its capability wants it | 0 | {result.outside} |",
        f"| texts that do not say what the graph says | 0 | {result.unclear} |",
    ]
    served = ", ".join(f"{letters} {result.served[letters]:,}" for letters in CAPABILITIES)
    return (
        f"{HEAD}Machine: {machine()}. Measured {datetime.now(UTC):%Y-%m-%d %H:%M} UTC.\n\n"
        f"| {result.tasks:,} tasks | aim | measured |\n|---|---|---|\n" + "\n".join(rows) + "\n\n"
        f"Tasks that serve a capability (one may serve several): {served}.\n"
    )


if __name__ == "__main__":
    sys.exit(main())
