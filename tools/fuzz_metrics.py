"""`make fuzz-metrics`: calls every metric with mutated files, and looks whether it comes to a verdict.

A metric that raises on what an agent can leave behind takes an attempt out of the score. Each call takes a right file
or value of the metric's own cases (`tests/factories/metric_cases`), changes it by a seeded mutation, and calls the
metric in another process with limits of time and memory; after a failure in a new one. The expected file and the rules
are the task's and stay.

Ends with 1 if a call raised, took too long or too much memory. The seed and the number that is shown repeat a call.
With `--page` the result is written as docs/reports/fuzz-metrics.md, anew after each part of a series.
"""

import argparse
import ctypes
import inspect
import json
import math
import multiprocessing
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
_FAILED = 3
"""Exit code of a process after a call without a verdict: the next call gets a new one."""
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
        memory: bytes of the process at its highest during the call, less what it had before.
    """

    seed: int
    number: int
    key: Key
    what: str
    seconds: float
    memory: int


def right_calls(cases: Mapping[Key, MetricCase], folder: Path) -> dict[Key, Call]:
    """A right call of each metric, with its files in an empty folder."""
    calls: dict[Key, Call] = {}
    for key, case in cases.items():
        folder_of_case = folder / f"{key[0]}-{key[1]}"
        folder_of_case.mkdir()
        calls[key] = case.passing(folder_of_case)
    return calls


def fuzz(seed: int, numbers: Sequence[int], calls: Mapping[Key, Call], folder: Path) -> Iterator[FuzzOutcome]:
    """Calls metrics with mutations of these numbers.

    Args:
        seed: of the whole series.
        numbers: of the mutations.
        calls: a right call of each metric.
        folder: an empty folder for files.
    """
    keys, index = sorted(calls), 0
    while index < len(numbers):
        reader, writer = os.pipe()
        sys.stdout.flush()
        child = os.fork()
        if child == 0:
            os.close(reader)
            os._exit(_try_calls(writer, seed, numbers[index:], calls, folder / "try"))
        os.close(writer)
        seconds, memory = 0.0, 0  # What the process had at the end of its last call.
        with os.fdopen(reader, encoding="utf-8") as lines:
            for line in lines:
                result, cost, peak, seconds, memory = json.loads(line)
                yield FuzzOutcome(seed, numbers[index], keys[numbers[index] % len(keys)], result, cost, peak)
                index += 1
        _, status, usage = os.wait4(child, 0)
        if index < len(numbers) and status >> 8 != _FAILED:
            ended = f"ended by {signal.Signals(os.WTERMSIG(status)).name if os.WIFSIGNALED(status) else 'itself'}"
            cost, peak = usage.ru_utime + usage.ru_stime - seconds, max(0, usage.ru_maxrss * 1024 - memory)
            yield FuzzOutcome(seed, numbers[index], keys[numbers[index] % len(keys)], ended, cost, peak)
            index += 1


def _try_calls(writer: int, seed: int, numbers: Sequence[int], calls: Mapping[Key, Call], folder: Path) -> int:
    """Calls metrics one after the other until one gives no verdict, and writes what came of each."""
    null = os.open(os.devnull, os.O_WRONLY)
    os.dup2(null, 2)
    keys = sorted(calls)
    for number in numbers:
        key = keys[number % len(keys)]
        rng = random.Random(f"{seed}-{number}")  # noqa: S311 - it shall be repeatable.
        result, cost, peak = _try_call(rng, key, calls[key], folder)
        answer = json.dumps([result[:4000], cost, peak, _seconds(), _memory("VmRSS")])
        os.write(writer, f"{answer}\n".encode("utf-8", "replace"))
        if result != VERDICT:
            return _FAILED
    return 0


def _try_call(rng: random.Random, key: Key, call: Call, folder: Path) -> tuple[str, float, int]:
    """Result of a call, its seconds and its memory."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir()
    metric = registry.lookup(PluginKind.METRIC, key[1], key[0])
    arguments, own = list(call.args), _position(metric)
    if arguments:
        arguments[own] = _mutated_result(rng, arguments[own], folder)
    # What this process gave back would count as its own, and the call could take it unseen.
    _LIBC.malloc_trim(0)
    Path("/proc/self/clear_refs").write_text("5")  # The highest memory counts anew.
    seconds, memory = _seconds(), _memory("VmRSS")
    _limit(seconds, _memory("VmSize"))
    result = _call_metric(metric, tuple(arguments), call.options)
    cost, peak = _seconds() - seconds, max(0, _memory("VmHWM") - memory)
    return f"took {cost:.0f} s" if result == VERDICT and cost > SECONDS else result, cost, peak


def _position(metric: Any) -> int:
    """Position of the argument that the agent left behind: `is_in_vm_clickboard` takes the rules before it."""
    return int(next(iter(inspect.signature(metric).parameters), "") == "rules")


def _limit(seconds: float, size: int) -> None:
    """Limits for one call of this process, which has taken these seconds and this address space."""
    for result, most in (
        (resource.RLIMIT_AS, size + MEMORY),
        (resource.RLIMIT_CPU, math.ceil(seconds) + SECONDS),
        (resource.RLIMIT_CORE, 0),
    ):
        resource.setrlimit(result, (most, resource.getrlimit(result)[1]))
    signal.alarm(SECONDS * 10)  # A machine that is busy gives a process little of its time.


def _seconds() -> float:
    """Seconds of the processor that this process and its ended children have taken."""
    usages = [resource.getrusage(who) for who in (resource.RUSAGE_SELF, resource.RUSAGE_CHILDREN)]
    return sum(usage.ru_utime + usage.ru_stime for usage in usages)


def _memory(name: str) -> int:
    """Bytes of this process: `VmSize` (address space), `VmRSS` (resident), `VmHWM` (resident at its highest)."""
    lines = Path("/proc/self/status").read_text().splitlines()
    return next(int(line.split()[1]) * 1024 for line in lines if line.startswith(f"{name}:"))


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
    files = [index for index, path in enumerate(paths) if isinstance(path, str) and "\0" not in path and _is_file(path)]
    if not files:
        is_own_path = isinstance(result, str) and result.startswith(tempfile.gettempdir())  # The path of a folder, say.
        return result if is_own_path else mutated_value(rng, result)
    index = rng.choice(files)
    copy = folder / Path(paths[index]).name
    copy.write_bytes(mutated(rng, Path(paths[index]).read_bytes()))
    return str(copy) if isinstance(result, str) else [*paths[:index], str(copy), *paths[index + 1 :]]


def _is_file(path: str) -> bool:
    try:
        return Path(path).is_file()
    except OSError:
        return False


def main() -> int:
    arguments = _arguments()
    registry.load()
    cases, outcomes = _cases(arguments.metric), list[FuzzOutcome]()
    metrics = len(cases)
    with tempfile.TemporaryDirectory() as folder:
        calls = right_calls(cases, Path(folder))
        for key, call in calls.items():  # So that forked processes have what the metrics import, as a worker has.
            _call_metric(registry.lookup(PluginKind.METRIC, key[1], key[0]), call.args, call.options)
        with ProcessPoolExecutor(arguments.jobs, multiprocessing.get_context("fork")) as pool:
            for part in pool.map(partial(_part, arguments, calls), _starts(arguments)):
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


def _part(arguments: argparse.Namespace, calls: Mapping[Key, Call], start: tuple[int, int]) -> list[FuzzOutcome]:
    """The calls of a part; those without a verdict are printed at once."""
    seed, first = start
    numbers = range(first, min(first + PART, arguments.first + arguments.number))
    with tempfile.TemporaryDirectory() as folder:
        return [_print_outcome(outcome) for outcome in fuzz(seed, numbers, calls, Path(folder))]


def _cases(names: Collection[str] | None) -> dict[Key, MetricCase]:
    """Cases of the named metrics; of all that judge what agents leave, if there are no names."""
    cases = all_cases()
    names_to_fuzz = {key[1] for key in cases} - NOT_THE_AGENTS if not names else set(names)
    return {key: case for key, case in cases.items() if key[1] in names_to_fuzz}


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
behind, each with at most {SECONDS} s of the processor and {MEMORY // _MIB:,} MiB beyond what its process has before the
call. A call that raises, takes longer or takes more memory is a failure. The memory
that is shown is what the call added.

{metrics} metrics. Python {platform.python_version()}.

| seed | mutations | verdicts | failures | slowest, s | memory at its highest, MiB |
|---|---|---|---|---|---|
{chr(10).join(rows)}

| slowest calls | s of the processor |
|---|---|
{_table((outcome, f"{outcome.seconds:.1f}") for outcome in slowest)}

| calls with the most memory | MiB |
|---|---|
{_table((outcome, str(math.ceil(outcome.memory / _MIB))) for outcome in largest)}

## Failures

{chr(10).join(text)}
"""


def _counts(outcomes: Sequence[FuzzOutcome]) -> str:
    verdicts = sum(outcome.what == VERDICT for outcome in outcomes)
    seconds, memory = max(outcome.seconds for outcome in outcomes), max(outcome.memory for outcome in outcomes)
    cells = (len(outcomes), verdicts, len(outcomes) - verdicts)
    return f"{' | '.join(f'{cell:,}' for cell in cells)} | {seconds:.1f} | {math.ceil(memory / _MIB)}"


def _table(rows: Iterable[tuple[FuzzOutcome, str]]) -> str:
    return "\n".join(f"| {_outcome_title(outcome)} | {value} |" for outcome, value in rows)


def _outcome_title(outcome: FuzzOutcome) -> str:
    return f"`{outcome.key[1]}` ({outcome.key[0]}), seed {outcome.seed}, number {outcome.number}"


if __name__ == "__main__":
    sys.exit(main())
