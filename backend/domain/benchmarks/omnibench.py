"""`omnibench`: graphs of subtasks; each node is evaluated after every step of the agent."""

from pathlib import Path

from backend.domain.benchmarks._files import read_object
from backend.domain.benchmarks._omnibench_files import ABOUT, LINES, SUBTASKS, read_pool, task_files
from backend.domain.benchmarks._osworld_format import folder_of, read_assets
from backend.domain.errors import Invalid
from backend.domain.model.omnibench_labels import tested_capabilities
from backend.domain.model.task import LoadedBenchmark, Task, Variant
from backend.domain.omnibench.build import build, variants
from backend.domain.omnibench.categories import category_of
from backend.domain.omnibench.complexity import CAPABILITIES
from backend.domain.omnibench.task_file import Pool, read_task
from backend.domain.registry import PluginKind, register


@register(PluginKind.BENCHMARK, "omnibench")
class OmniBench:
    """A folder with `subtasks.json`, tasks in `tasks/` or `tasks.jsonl`, and `eval_functions/`."""

    kind = "omnibench"

    def load(self, path: Path) -> LoadedBenchmark:
        root = folder_of(path)
        if not (root / SUBTASKS).is_file():
            raise Invalid(f"there is no {SUBTASKS}", code="invalid_task_file", path=path.name)
        about = read_object(root / ABOUT, root) if (root / ABOUT).exists() else {}
        warnings: list[str] = []
        pool = read_pool(root, warnings)
        tasks: list[Task] = []
        variants_of_task: list[Variant] = []
        for name, raw in task_files(root):
            try:
                graph = read_task(raw, name, pool)
                task = build(graph, pool, raw)
            except Invalid as error:
                raise Invalid(f"key {error}", code="invalid_task_file", path=name, hint=error.hint) from error
            tasks.append(task)
            variants_of_task += variants(task, graph)
        if not tasks:
            raise Invalid(
                "there is no task",
                code="invalid_task_file",
                path=path.name,
                hint="`deskarena omnibench compose` makes them of a pool.",
            )
        return LoadedBenchmark(
            kind=self.kind,
            # Tasks composed here are in one file; the paper has no results on them.
            suite="" if (root / LINES).exists() else self.kind,
            tasks=tuple(tasks),
            variants=tuple(variants_of_task),
            selections=_selections(tasks),
            assets=read_assets(root),
            warnings=(*warnings, *_uncategorised_apps(pool), *_unknown(pool)),
            licence=str(about.get("licence", "")),
            source=str(about.get("source", "")),
        )


def _selections(tasks: list[Task]) -> dict[str, tuple[str, ...]]:
    """The set of each capability, by which OmniBench reports results."""
    served = {
        letters: tuple(str(task.key) for task in tasks if letters in tested_capabilities(task.labels.extra))
        for letters in CAPABILITIES
    }
    return {letters: keys for letters, keys in served.items() if keys}


def _uncategorised_apps(pool: Pool) -> list[str]:
    unknown = sorted({subtask.application for subtask in pool.values() if category_of(subtask.application) is None})
    return [
        f"{SUBTASKS}: nobody has said in which category {app!r} belongs; it counts as one by itself" for app in unknown
    ]


def _unknown(pool: Pool) -> list[str]:
    unknown = sorted({app for subtask in pool.values() for app in subtask.application_needs().unknown})
    return [
        f"{SUBTASKS}: what {app!r} needs on a desktop is unknown; name its commands in `requires`" for app in unknown
    ]
