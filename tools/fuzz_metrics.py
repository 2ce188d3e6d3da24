"""`make fuzz-metrics`: calls every metric with mutated files, and looks whether it comes to a verdict.

A metric that raises on what an agent can leave behind takes an attempt out of the score. Each call takes a right file
or value of the metric's own cases (`tests/factories/metric_cases`), changes it by a seeded mutation, and calls the
metric in a process of its own with limits of time and memory. The expected file and the rules are the task's and stay.

Ends with 1 if a call raised, took too long or too much memory. The seed and the number that is shown repeat a call.
With `--page` the result is written as docs/reports/fuzz-metrics.md, anew after each part of a series.
"""

import argparse
import ctypes
import inspect
import math
import os
import platform
import random
import resource
import shutil
import signal
import sys
import tempfile
from collections.abc import Collection, Iterable, Iterator, Mapping, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import Any

from backend.domain import registry
from backend.domain.errors import DeskarenaError
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind
from tests.factories.metric_cases import Call, MetricCase, all_cases
from tools.mutations import mutated, mutated_value

SECONDS = 20
MEMORY = 2**30
"""Bytes beyond what the process has before the call."""
VERDICT = "verdict"
PAGE = Path(__file__).parents[1] / "docs" / "reports" / "fuzz-metrics.md"
PART = 250
"""Calls of a seed that one process makes in a row."""
_LIBC = ctypes.CDLL(None)
_MIB = 2**20
_SHOWN = 5
NOT_THE_AGENTS = frozenset(
    {
        "check_accessibility_tree",
        "check_expression",
        "check_left_panel",
        "vlm_judge",
        "widget_value",
        "written_assertion",
    }
)
"""Metrics of what the guest server, a getter or a judge writes: if that is damaged, there is no verdict."""
Key = tuple[str, str]


@dataclass(frozen=True)
class FuzzOutcome:
    """Result of one call.

    Attributes:
        seed, number: of the mutation; both together repeat the call.
        key: dialect and name of the metric.
        what: `verdict`, or what happened instead.
        seconds: of the processor, with the programs that the metric ran.
        memory: bytes of the call's process at its highest, less what it had before the call.
    """

    seed: int
    number: int
    key: Key
    what: str
    seconds: float
    memory: int


def fuzz(seed: int, numbers: Sequence[int], cases: Mapping[Key, MetricCase], folder: Path) -> Iterator[FuzzOutcome]:
    """Calls metrics with mutations of these numbers.

    Args:
        seed: of the whole series.
        numbers: of the mutations.
        cases: the metrics' cases.
        folder: an empty folder for files.
    """
    keys = sorted(cases)
    originals: dict[Key, Call] = {}
    for number in numbers:
        key = keys[number % len(keys)]
        if key not in originals:
            place = folder / f"{key[0]}-{key[1]}"
            place.mkdir()
            originals[key] = cases[key].passing(place)
        rng = random.Random(f"{seed}-{number}")  # noqa: S311 - it shall be repeatable.
        yield FuzzOutcome(seed, number, key, *_try_call(rng, key, originals[key], folder / "try"))


def _try_call(rng: random.Random, key: Key, call: Call, folder: Path) -> tuple[str, float, int]:
    """What came of a call, its seconds and its memory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    metric = registry.lookup(PluginKind.METRIC, key[1], key[0])
    arguments, own = list(call.args), _position(metric)
    if arguments:
        arguments[own] = _mutated_result(rng, arguments[own], folder)
    reader, writer = os.pipe()
    sys.stdout.flush()
    # What this process gave back would count as its own, and the call could take it unseen.
    _LIBC.malloc_trim(0)
    child = os.fork()
    if child == 0:
        os.close(reader)
        _limit()
        os.write(writer, f"{_pages()[1] * resource.getpagesize()} ".encode())
        os.write(writer, _call_metric(metric, tuple(arguments), call.options).encode()[:4000])
        os._exit(0)
    os.close(writer)
    with os.fdopen(reader, "rb") as answers:
        before, _, words = answers.read().decode("utf-8", "replace").partition(" ")
    _, status, usage = os.wait4(child, 0)
    ended = f"ended by {signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else 'itself'}"
    return words or ended, usage.ru_utime + usage.ru_stime, max(0, usage.ru_maxrss * 1024 - int(before or 0))


def _position(metric: Any) -> int:
    """Position of the argument that the agent left behind: `is_in_vm_clickboard` takes the rules before it."""
    return int(next(iter(inspect.signature(metric).parameters), "") == "rules")


def _limit() -> None:
    used = _pages()[0] * resource.getpagesize()
    resource.setrlimit(resource.RLIMIT_AS, (used + MEMORY, used + MEMORY))
    resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
    resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
    signal.alarm(SECONDS * 10)  # A machine that is busy gives a process little of its time.
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)


def _pages() -> tuple[int, int]:
    """This process's address space and its resident part, in pages."""
    with open("/proc/self/statm") as file:  # noqa: PTH123 - as little as can be in a forked process.
        size, resident = file.read().split()[:2]
    return int(size), int(resident)


def _call_metric(metric: Any, arguments: tuple[Any, ...], options: Mapping[str, Any]) -> str:
    try:
        value = metric(*arguments, **options)
    except DeskarenaError as error:
        return f"{type(error).__name__} {error.code}: {error.message}"
    except BaseException as error:  # noqa: BLE001 - whatever it is, it is what is looked for.
        trace, where = error.__traceback__, ""
        while trace is not None:
            where = f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}"
            trace = trace.tb_next
        return f"{type(error).__name__} at {where}: {error}"
    return VERDICT if isinstance(value, MetricValue) else f"{type(value).__name__} in place of a verdict"


def _mutated_result(rng: random.Random, result: Any, folder: Path) -> Any:
    """The result with one file changed, or one of its values if there are no files."""
    paths = [result] if isinstance(result, str) else list(result) if isinstance(result, list | tuple) else []
    files = [place for place, path in enumerate(paths) if isinstance(path, str) and "\0" not in path and _is_file(path)]
    if not files:
        ours = isinstance(result, str) and result.startswith(tempfile.gettempdir())  # The path of a folder, say.
        return result if ours else mutated_value(rng, result)
    place = rng.choice(files)
    copy = folder / Path(paths[place]).name
    copy.write_bytes(mutated(rng, Path(paths[place]).read_bytes()))
    return str(copy) if isinstance(result, str) else [*paths[:place], str(copy), *paths[place + 1 :]]


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        return False


def main() -> int:
    arguments = _arguments()
    registry.load()
    metrics, outcomes = len(_cases(arguments.metric)), list[FuzzOutcome]()
    with ProcessPoolExecutor(arguments.jobs) as pool:
        for part in pool.map(partial(_part, arguments), _starts(arguments)):
            outcomes += part
            if arguments.page:
                PAGE.write_text(page(outcomes, metrics))
    failures = sum(outcome.what != VERDICT for outcome in outcomes)
    print(f"{len(outcomes) - failures} verdicts, {failures} failures of {metrics} metrics")
    return int(failures > 0)


def _starts(arguments: argparse.Namespace) -> list[tuple[int, int]]:
    """Seed and first number of each part, all seeds alike."""
    numbers = range(arguments.first, arguments.first + arguments.number, PART)
    return [(seed, first) for first in numbers for seed in arguments.seed or [1]]


def _part(arguments: argparse.Namespace, start: tuple[int, int]) -> list[FuzzOutcome]:
    """The calls of a part; those without a verdict are printed at once."""
    seed, first = start
    numbers = range(first, min(first + PART, arguments.first + arguments.number))
    with tempfile.TemporaryDirectory() as folder:
        return [_print_outcome(outcome) for outcome in fuzz(seed, numbers, _cases(arguments.metric), Path(folder))]


def _cases(names: Collection[str] | None) -> dict[Key, MetricCase]:
    """Cases of the named metrics; of all that judge what agents leave, if there are no names."""
    cases = all_cases()
    chosen = {key[1] for key in cases} - NOT_THE_AGENTS if not names else set(names)
    return {key: case for key, case in cases.items() if key[1] in chosen}


def _arguments() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--number", type=int, default=1000, help="how many mutations per seed")
    parser.add_argument("--first", type=int, default=0, help="number of the first mutation")
    parser.add_argument("--seed", type=int, action="append", help="seed of a series (repeatable; default: 1)")
    parser.add_argument("--metric", action="append", help="only metrics of this name")
    parser.add_argument("--jobs", type=int, default=1, help="how many processes")
    parser.add_argument("--page", action="store_true", help=f"write {PAGE.name}")
    return parser.parse_args()


def _print_outcome(outcome: FuzzOutcome) -> FuzzOutcome:
    """Prints a call without a verdict."""
    if outcome.what != VERDICT:
        print(f"{outcome.seed}-{outcome.number} {'/'.join(outcome.key)}: {outcome.what}", flush=True)
    return outcome


def page(outcomes: Sequence[FuzzOutcome], metrics: int) -> str:
    """The report: counts by seed, the slowest calls, those with the most memory, and every failure."""
    by_seed: dict[int, list[FuzzOutcome]] = {}
    for outcome in outcomes:
        by_seed.setdefault(outcome.seed, []).append(outcome)
    failures = [outcome for outcome in outcomes if outcome.what != VERDICT]
    slowest = sorted(outcomes, key=lambda outcome: outcome.seconds, reverse=True)[:_SHOWN]
    largest = sorted(outcomes, key=lambda outcome: outcome.memory, reverse=True)[:_SHOWN]
    rows = [f"| {seed} | {_counts(own)} |" for seed, own in by_seed.items()]
    text = [f"- {_outcome_title(failure)}: {failure.what}" for failure in failures] or ["None."]
    rows += [f"| all | {_counts(outcomes)} |"] if len(by_seed) > 1 else []
    return f"""# Metrics on mutated files

Written by `make fuzz-metrics ARGS=--page`: metrics called with mutations of files and values that an agent can leave
behind, each in a process of its own with at most {SECONDS} s of the processor and {MEMORY // _MIB:,} MiB beyond what it
has before the call. A call that raises, takes longer or takes more memory is a failure. The memory
that is shown is what the call added.

{metrics} metrics. Python {platform.python_version()}.

| seed | mutations | verdicts | failures | slowest, s | memory at its highest, MiB |
|---|---|---|---|---|---|
{chr(10).join(rows)}

| slowest calls | s of the processor |
|---|---|
{_table((one, f"{one.seconds:.1f}") for one in slowest)}

| calls with the most memory | MiB |
|---|---|
{_table((one, str(math.ceil(one.memory / _MIB))) for one in largest)}

## Failures

{chr(10).join(text)}
"""


def _counts(outcomes: Sequence[FuzzOutcome]) -> str:
    verdicts = sum(outcome.what == VERDICT for outcome in outcomes)
    seconds, memory = max(one.seconds for one in outcomes), max(one.memory for one in outcomes)
    cells = (len(outcomes), verdicts, len(outcomes) - verdicts)
    return f"{' | '.join(f'{cell:,}' for cell in cells)} | {seconds:.1f} | {math.ceil(memory / _MIB)}"


def _table(rows: Iterable[tuple[FuzzOutcome, str]]) -> str:
    return "\n".join(f"| {_outcome_title(outcome)} | {value} |" for outcome, value in rows)


def _outcome_title(outcome: FuzzOutcome) -> str:
    return f"`{outcome.key[1]}` ({outcome.key[0]}), seed {outcome.seed}, number {outcome.number}"


if __name__ == "__main__":
    sys.exit(main())
