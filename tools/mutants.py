"""`make mutants`: changes the rules of the product in small ways, and looks whether a test notices.

Cosmic Ray makes the changes (mutants): another comparison, number, operator, no decorator, no loop. A seeded sample of
them is tried, each in a copy of the checkout, against the tests that execute its line. These are found first, by
running the tests of the sample's modules (`covering`) without a mutant. A line that runs when its module is imported
is tried against all tests of the module. Of each place in the code at most one mutant is tried. Annotations are left
as they are, because errors there are found by the type checker.

Ends with 1 if too few mutants are killed. With `--page` it writes the report. A second seed (`--fresh`) shows whether
tests were written only for the first sample. With `--record` an interrupted run goes on, and survivors are tried again.
"""

import argparse
import ast
import os
import random
import shlex
import shutil
import subprocess
import sys
import tempfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor
from dataclasses import replace
from datetime import UTC, datetime
from functools import cache, partial
from itertools import groupby, islice
from pathlib import Path

from cosmic_ray.commands.init import init
from cosmic_ray.mutating import mutate_and_test, mutate_code
from cosmic_ray.plugins import get_operator
from cosmic_ray.work_db import WorkDB, use_db
from cosmic_ray.work_item import MutationSpec, TestOutcome

from tools import line_contexts
from tools.line_contexts import LineContexts
from tools.mutant_report import AIM, PACKAGES, SampleTrials, page, share_killed, survivors, table
from tools.mutant_trials import MutantOutcome, MutantTrial, TrialRecord

ROOT = Path(__file__).resolve().parent.parent
MOST_IMPORTERS = 8
"""Test files at most that import a module and are not of its path."""
RULES = ("tests/architecture/test_value_objects.py",)
"""Rules of all code that a mutated declaration may break."""
TEST_SECONDS, SECONDS = 120, 1800
"""How long one test, and all tests of a mutant, may take."""
LINKED = (".venv", "node_modules", ".setup", ".wine", ".guest-site")
"""Paths that a copy of the checkout shares with it."""


def mutations(modules: Sequence[Path]) -> list[list[MutationSpec]]:
    """Every mutation of the modules, by their places in the code."""
    with (
        tempfile.TemporaryDirectory() as folder,
        use_db(str(Path(folder) / "session.sqlite"), WorkDB.Mode.create) as db,
    ):
        init(modules, db, {})
        items = sorted((item.mutations[0] for item in db.work_items), key=_order)
    places = groupby(items, lambda mutant: (mutant.module_path, mutant.start_pos, mutant.end_pos))
    return [list(mutants) for (path, start, _), mutants in places if not _is_annotation(path, start)]


def _order(mutation: MutationSpec) -> tuple[object, ...]:
    return str(mutation.module_path), mutation.start_pos, mutation.end_pos, mutation.operator_name, mutation.occurrence


@cache
def _annotations(path: Path) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    nodes = [
        annotation
        for node in ast.walk(ast.parse(path.read_text()))
        for annotation in (getattr(node, "annotation", None), getattr(node, "returns", None))
        if isinstance(annotation, ast.expr)
    ]
    return tuple(
        ((node.lineno, node.col_offset), (node.end_lineno or node.lineno, node.end_col_offset or 0)) for node in nodes
    )


def _is_annotation(path: Path, position: tuple[int, int]) -> bool:
    return any(start <= position < end for start, end in _annotations(path))


@cache
def _signatures(path: Path) -> tuple[tuple[tuple[int, int], tuple[int, int]], ...]:
    functions = [
        node
        for node in ast.walk(ast.parse(path.read_text()))
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef)
    ]
    return tuple(((node.lineno, node.col_offset), (node.body[0].lineno, node.body[0].col_offset)) for node in functions)


def compiles(mutation: MutationSpec) -> bool:
    """Whether the mutant is valid Python. Cosmic Ray mutates the stars of a signature like products."""
    in_signature = any(start <= mutation.start_pos < end for start, end in _signatures(mutation.module_path))
    if in_signature and "BinaryOperator" in mutation.operator_name:
        return False
    operator = get_operator(mutation.operator_name)(**mutation.operator_args)
    mutant = mutate_code(mutation.module_path.read_text(), operator, mutation.occurrence)
    try:
        ast.parse(mutant or "")
    except SyntaxError:
        return False
    return mutant is not None


def sample(
    places: Sequence[Sequence[MutationSpec]],
    number: int,
    seed: int,
    valid: Callable[[MutationSpec], bool] = compiles,
) -> list[MutationSpec]:
    """One valid mutation at each of a number of places, in the order of the code."""
    drawn = random.Random(seed)  # noqa: S311 - a sample that can be repeated.
    choices = (drawn.choice(group) for group in drawn.sample(places, len(places)))
    return sorted(islice(filter(valid, choices), number), key=_order)


@cache
def _imports(path: Path) -> Counter[str]:
    """How many names a file imports, by module."""
    counts: Counter[str] = Counter()
    for node in ast.walk(ast.parse(path.read_text())):
        if isinstance(node, ast.Import):
            counts.update(alias.name for alias in node.names)
        elif isinstance(node, ast.ImportFrom) and node.module:
            counts[node.module] += len(node.names)
            counts.update(f"{node.module}.{alias.name}" for alias in node.names)
    return counts


def covering(module: Path) -> list[Path]:
    """The test files of a module, those that are likeliest to kill its mutants first."""
    floor, room_name = module.parts[1], module.parts[2]
    folders = [Path("tests", kind, floor, room_name) for kind in ("unit", "integration")]
    if floor == "services":
        folders.append(Path("tests/integration/web", room_name))
    room = [path for folder in folders for path in sorted(folder.rglob("test_*.py"))]
    name = ".".join(module.with_suffix("").parts)
    files = [*Path("tests/unit").rglob("test_*.py"), *Path("tests/integration/services").rglob("test_*.py")]
    importers = sorted((path for path in files if _imports(path)[name]), key=lambda path: (-_imports(path)[name], path))
    own = [path for path in (*room, *importers) if path.stem == f"test_{module.stem}"]
    units = [path for path in room if path.parts[1] == "unit"]  # Much quicker than the others.
    return list(dict.fromkeys([*own, *units, *importers[:MOST_IMPORTERS], *room]))


def command(tests: Iterable[Path | str], *more: str) -> str:
    """The command that runs tests, files or ids, until one fails."""
    options = f"-x -q --no-header --tb=line -p no:cacheprovider --timeout={TEST_SECONDS}"
    return f"{ROOT / '.venv' / 'bin' / 'python'} -m pytest {options} {shlex.join([*more, *map(str, tests)])}"


def tests_of(mutation: MutationSpec, contexts: LineContexts) -> list[str]:
    """Tests to run against a mutant, the likeliest to kill it first: ids of tests, or files if its line has no test."""
    files = [str(path) for path in covering(mutation.module_path)]
    tests = contexts.tests_of(mutation.module_path, mutation.start_pos[0])
    rank = {name: number for number, name in enumerate(files)}
    return sorted(tests, key=lambda test: rank.get(test.partition("::")[0], len(rank))) or [*files, *RULES]


def copy_checkout(folder: Path) -> Path:
    """A copy of what Git knows of, in which a mutant changes nothing of the checkout."""
    listing = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
    for name in filter(None, listing.split("\0")):
        target = folder / name
        target.parent.mkdir(parents=True, exist_ok=True)
        if (ROOT / name).is_file():
            shutil.copy2(ROOT / name, target)
    for name in LINKED:
        if (ROOT / name).exists():
            (folder / name).symlink_to(ROOT / name)
    return folder


def enter_copy(root: Path) -> None:
    """Gives each process of the pool its own copy."""
    folder = copy_checkout(Path(tempfile.mkdtemp(dir=root)))
    os.chdir(folder)
    os.environ["PYTHONPATH"] = f"{folder}:{folder / 'vm_images'}"


def attempt(mutation: MutationSpec, tests: Sequence[str]) -> MutantTrial:
    """Tries one mutant in this process's copy.

    Raises:
        RuntimeError: the tests could not be run.
    """
    result = mutate_and_test([mutation], command(tests), SECONDS)
    if result.test_outcome is TestOutcome.SURVIVED:
        return MutantTrial(mutation, MutantOutcome.SURVIVED, result.diff)
    if result.test_outcome is not TestOutcome.KILLED:
        raise RuntimeError(f"{mutation}: {result.output}")
    late = result.output == "timeout" or "Failed: Timeout" in result.output
    return MutantTrial(mutation, MutantOutcome.TIMEOUT if late else MutantOutcome.KILLED, result.diff)


def run_unchanged(modules: Iterable[Path], jobs: int) -> LineContexts:
    """Runs the tests without a mutant and records which lines each executes.

    Raises:
        SystemExit: one of them fails, so that mutants cannot be tested.
    """
    tests = dict.fromkeys(path for module in modules for path in covering(module))
    print(f"{len(tests)} test files without a mutant", flush=True)
    with tempfile.TemporaryDirectory(prefix="contexts-") as folder:
        result = subprocess.run(
            shlex.split(command(tests, "-p", "tools.line_contexts", "-n", str(jobs), "--dist", "loadfile")),
            env={**os.environ, line_contexts.FOLDER: folder, line_contexts.PACKAGES: ":".join(PACKAGES)},
            capture_output=True,
            text=True,
            check=False,
            start_new_session=True,
        )
        if result.returncode:
            raise SystemExit(f"a test fails without a mutant:\n{result.stdout[-3000:]}")
        return LineContexts(Path(folder))


def run(mutants: Sequence[MutationSpec], contexts: LineContexts, jobs: int) -> Iterator[MutantTrial]:
    """Tries the mutants, several at the same time; each as it ends, in order."""
    tests = [tests_of(mutant, contexts) for mutant in mutants]
    at, day = commit(), f"{datetime.now(UTC):%Y-%m-%d}"
    with tempfile.TemporaryDirectory(prefix="mutants-") as folder:
        root = Path(folder)
        with ProcessPoolExecutor(jobs, initializer=partial(enter_copy, root)) as pool:
            for number, trial in enumerate(pool.map(attempt, mutants, tests), 1):
                print(f"{number:4} {trial.outcome.value:8} {trial.place} {trial.mutation.operator_name}", flush=True)
                yield replace(trial, commit=at, day=day)


def commit() -> str:
    """The checked-out commit, abbreviated; with a `+` if files differ from it."""
    described = subprocess.run(
        ["git", "describe", "--always", "--dirty=+", "--exclude=*"],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=True,
    )
    return described.stdout.strip()


def still_to_try(mutants: Iterable[MutationSpec], record: TrialRecord, *, again: bool) -> list[MutationSpec]:
    """The mutants without a trial, and if `again` those that survived."""
    trials = [(mutant, record.last(mutant)) for mutant in mutants]
    survived = MutantOutcome.SURVIVED
    return [mutant for mutant, trial in trials if trial is None or (again and trial.outcome is survived)]


def tried(mutants: Sequence[MutationSpec], seed: int, record: TrialRecord) -> SampleTrials:
    """A sample with its outcomes of the record."""
    first, last = ([trial for mutant in mutants if (trial := of(mutant))] for of in (record.first, record.last))
    return SampleTrials(seed, len(mutants), last, first)


def main() -> int:
    """Tries the samples, prints their tables and survivors; the exit code is 0 if enough were killed."""
    options = _options()
    os.chdir(ROOT)
    modules = [path for name in PACKAGES for path in sorted(Path(name).rglob("*.py")) if options.only in str(path)]
    places, record = mutations(modules), TrialRecord(options.record)
    mutants = sample(places, options.number, options.seed)
    fresh = sample(places, options.fresh[1], options.fresh[0]) if options.fresh else []
    print(f"{len(mutants) + len(fresh)} of {len(places)} places in {len(modules)} modules", flush=True)
    remaining = still_to_try(mutants, record, again=True)
    remaining += [mutant for mutant in still_to_try(fresh, record, again=False) if mutant not in remaining]
    contexts = run_unchanged(sorted({mutant.module_path for mutant in remaining}), options.jobs)
    for trial in run(remaining, contexts, options.jobs):
        record.add(trial)
    samples = [tried(mutants, options.seed, record), *([tried(fresh, options.fresh[0], record)] if fresh else [])]
    for drawn in samples:
        print("\n".join([f"seed {drawn.seed}", *table(drawn.trials), "", *survivors(drawn.trials), ""]))
    if options.page:
        options.page.write_text(page(shlex.join(["python", "-m", "tools.mutants", *sys.argv[1:]]), samples))
    return 0 if share_killed(samples[0].trials) >= AIM else 1


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--number", type=int, default=200)
    parser.add_argument(
        "--fresh", type=int, nargs=2, metavar=("SEED", "N"), help="a second sample, which decides nothing"
    )
    parser.add_argument("--jobs", type=int, default=os.cpu_count() or 1)
    parser.add_argument("--only", default="", help="modules whose path contains this")
    parser.add_argument("--record", type=Path, help="file of outcomes; what it says was killed is not tried again")
    parser.add_argument("--page", type=Path, help="Markdown file to write the report to")
    return parser.parse_args()


if __name__ == "__main__":
    sys.exit(main())
