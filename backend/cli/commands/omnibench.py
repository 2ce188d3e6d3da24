"""`deskarena omnibench`: compose tasks from a pool of subtasks, and verify the pool."""

import json
import os
import shutil
import subprocess
import sys
from collections import Counter
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from backend.cli.client import Api
from backend.cli.errors import CliError, ExitCode, UsageError
from backend.cli.options import Data, OutputForm, Server, default_data
from backend.cli.output import Columns, Output, print_facts, print_object, print_rows

if TYPE_CHECKING:  # Reading a pool takes what other commands need not wait for.
    from backend.domain.omnibench.compose import GraphComposition, GraphSpec
    from backend.domain.omnibench.task_file import GraphTask

app = typer.Typer(help="Compose tasks from subtasks.", no_args_is_help=True)
ALL = "all"
_VERDICTS: Columns = {
    "subtask": lambda row: row["subtask"],
    "passed": lambda row: row["passed"],
    "feedback": lambda row: row["feedback"],
}
_COPIED = ("subtasks.json", "about.json", "eval_functions", "assets")


@app.callback()
def omnibench() -> None:
    """Compose tasks from subtasks."""


@app.command("compose")
def compose_tasks(  # noqa: PLR0913, PLR0917 - a command's options
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Folder with subtasks.json.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to create; it must not exist.")],
    tasks: Annotated[int, typer.Option("--tasks", min=1, max=50_000, help="Number of tasks.")] = 100,
    seed: Annotated[int, typer.Option("--seed", help="Random seed; the same seed gives the same tasks.")] = 0,
    capability: Annotated[
        list[str] | None,
        typer.Option(
            "--capability",
            metavar="LETTERS",
            help=("Capability to test, such as PP or LRP, or all (repeatable; capabilities alternate)."),
        ),
    ] = None,
    level: Annotated[
        list[str] | None,
        typer.Option("--level", metavar="DIMENSION=LEVEL", help=("Complexity that every task must have (repeatable).")),
    ] = None,
    orders: Annotated[
        int, typer.Option("--orders", min=1, max=10, help=("Number of instruction orders per task."))
    ] = 1,
    output: OutputForm = Output.TABLE,
) -> None:
    """Compose tasks from a pool's subtasks. Writes them with the pool to a folder that can be imported."""
    from backend.domain.benchmarks import read_pool
    from backend.domain.errors import Invalid
    from backend.domain.omnibench.compose import compose
    from backend.domain.omnibench.consistency import problems
    from backend.domain.omnibench.instructions import task_of

    _check_free(out)
    try:
        root = pool.resolve()
        subtasks = read_pool(root, [])
        pairs: list[tuple[GraphTask, GraphComposition]] = []
        for composition in compose(subtasks, _graph_specs(capability or [], level or []), seed=seed):
            task = task_of(composition, f"{len(pairs) + 1:05d}", subtasks, orders=orders)
            if not problems(task, subtasks):  # Two subtasks with the same text are indistinguishable.
                pairs.append((task, composition))
            if len(pairs) == tasks:
                break
    except Invalid as error:
        raise CliError(error.text, code=error.code) from error
    _write(root, out, [task for task, _ in pairs])
    tested = Counter(letters for _, composition in pairs for letters in composition.tested())
    facts: dict[str, Any] = {"folder": str(out), "tasks": len(pairs), "capabilities": dict(sorted(tested.items()))}
    print_object(facts, output, print_facts)


@app.command("cross-verify")
def cross_verify(
    pool: Annotated[Path, typer.Argument(metavar="POOL", help="Folder with subtasks.json.")],
    out: Annotated[Path, typer.Option("--out", metavar="DIR", help="Folder to create; it must not exist.")],
    seed: Annotated[int, typer.Option("--seed", help="Random seed; the same seed gives the same trials.")] = 0,
    output: OutputForm = Output.TABLE,
) -> None:
    """Create trials that run each evaluation of a pool on its own solution and on three others."""
    from backend.domain.benchmarks import read_pool
    from backend.domain.errors import Invalid
    from backend.domain.omnibench.crosscheck import trials

    _check_free(out)
    try:
        subtasks = read_pool(pool.resolve(), [])
        tasks = list(trials(subtasks, seed=seed))
    except Invalid as error:
        raise CliError(error.text, code=error.code) from error
    _write(pool.resolve(), out, tasks)
    print_object({"folder": str(out), "trials": len(tasks)}, output, print_facts)


@app.command("verdict")
def verdict(
    run: Annotated[str, typer.Argument(metavar="RUN", help="Id of a run of the oracle on these trials.")],
    output: OutputForm = Output.TABLE,
    server: Server = None,
) -> None:
    """Show which evaluations passed and which need revision. Exits with 1 if one did not pass."""
    from backend.domain.omnibench.crosscheck import verdicts

    with Api(server) as api:
        episodes = api.get(f"/runs/{run}", include="episodes")["episodes"]
    results = verdicts({episode["task"].rpartition("/")[2]: episode["score"] for episode in episodes})
    rows = [
        {**result.model_dump(mode="json"), "passed": result.passed, "feedback": result.feedback()} for result in results
    ]
    print_rows(rows, output, _VERDICTS)
    if not all(result.passed for result in results):
        raise typer.Exit(ExitCode.THRESHOLD_MISSED)


@app.command("paraphrase")
def paraphrase(
    folder: Annotated[Path, typer.Argument(metavar="DIR", help="Folder written by `compose`.")],
    model: Annotated[str, typer.Option("--model", help="Model name at the endpoint.")],
    endpoint: Annotated[str, typer.Option("--endpoint", help="Model endpoint of this machine (docs/models.md).")],
    data: Data = None,
    output: OutputForm = Output.TABLE,
) -> None:
    """Have a model paraphrase composed tasks. A text is kept only if it matches the task graph."""
    data_folder = (data or default_data()).expanduser().absolute()
    command = [
        sys.executable,
        "-m",
        "worker.commands.paraphrase_tasks",
        str(folder),
        "--endpoint",
        endpoint,
        "--model",
        model,
    ]
    result = subprocess.run(
        command, check=False, capture_output=True, text=True, env={**os.environ, "DESKARENA_DATA_DIR": str(data_folder)}
    )
    if result.returncode != 0:
        raise CliError(
            result.stderr.strip()[-2000:] or ("The model could not be reached. Check the endpoint (docs/models.md)."),
            code="model_not_reachable",
        )
    print_object(json.loads(result.stdout.splitlines()[-1]), output, print_facts)


def _check_free(out: Path) -> None:
    if out.exists():
        raise UsageError(f"{out} exists already. Name a folder to create.", code="folder_not_empty")


def _write(root: Path, out: Path, tasks: "Sequence[GraphTask]") -> None:
    """Writes the pool and its tasks in the form that `benchmark import omnibench` reads."""
    out.mkdir(parents=True)
    for name in _COPIED:
        _copy(root / name, out / name)
    with (out / "tasks.jsonl").open("w") as file:
        file.writelines(json.dumps(task.as_json(), ensure_ascii=False) + "\n" for task in tasks)


def _graph_specs(capabilities: list[str], levels: list[str]) -> "list[GraphSpec]":
    from backend.domain.model.task import Difficulty
    from backend.domain.omnibench.complexity import BOUNDS, CAPABILITIES
    from backend.domain.omnibench.compose import GraphSpec, for_capability

    named = list(CAPABILITIES) if ALL in capabilities else capabilities
    fixed = {}
    for text in levels:
        dimension, _, word = text.partition("=")
        if dimension not in BOUNDS or word not in set(Difficulty):
            raise UsageError(
                f"--level {text}: expected one of {', '.join(BOUNDS)}, followed by =easy, =medium or =hard.",
                code="invalid_option",
            )
        fixed[dimension] = Difficulty(word)
    specs = [for_capability(letters) for letters in named] or [GraphSpec()]
    return [spec.model_copy(update={"levels": {**spec.levels, **fixed}}) for spec in specs]


def _copy(source: Path, target: Path) -> None:
    if source.is_dir():
        shutil.copytree(source, target)
    elif source.is_file():
        shutil.copy(source, target)
