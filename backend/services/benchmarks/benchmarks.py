"""Benchmarks: import, list, read."""

import difflib
from collections import Counter
from collections.abc import Sequence
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import Benchmark, Task, TaskSet
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import benchmarks as repository
from backend.db.repositories.benchmarks import labels
from backend.db.repositories.benchmarks import quarantine as quarantine_repository
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.pagination import CursorPage
from backend.domain.benchmarks import labels_of
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.judging.criteria import is_judged
from backend.domain.model import task as domain
from backend.domain.model.task import UNLABELLED, LoadedBenchmark
from backend.domain.ports.storage import ArtifactStore
from backend.services.accounts.projects import default_project
from backend.services.artifacts import artifacts
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.benchmarks import published_results, unsupported
from backend.services.benchmarks.expert_work import keep_expert_work


def import_benchmark(
    session: Session, loaded: LoadedBenchmark, *, name: str, title: str = "", store: ArtifactStore
) -> tuple[TaskSet, bool]:
    """Stores a benchmark's tasks as a new version, unless this version exists already.

    Args:
        session: the transaction.
        loaded: what a reader returned.
        name: of the benchmark; a name is bound to one kind.
        title: display title; empty keeps the old one.
        store: store for assets.

    Returns:
        The task set, and whether it is new.

    Raises:
        Conflict: The benchmark of that name has another kind, or the project is over its disk quota.
        Invalid: there are no tasks, or two have the same key.
    """
    keys = Counter(str(task.key) for task in loaded.tasks)
    if not keys:
        raise Invalid("it has no tasks", code="invalid_benchmark", path=name)
    twice = [key for key, number in keys.items() if number > 1]
    if twice:
        raise Invalid(
            f"{twice[0]} occurs {keys[twice[0]]} times",
            code="invalid_benchmark",
            path=name,
            hint="Domain and name identify a task.",
        )
    benchmark = _lock_benchmark(session, name, loaded.kind)
    benchmark.title = title or benchmark.title or name
    benchmark.licence, benchmark.source = loaded.licence or benchmark.licence, loaded.source or benchmark.source
    content_hash = loaded.content_hash()
    existing = repository.task_set_by_hash(session, benchmark.id, content_hash)
    if loaded.suite:
        published_results.load_reported(session, benchmark, loaded.suite)
    if existing is not None:
        _refresh_labels(session, existing, loaded.tasks)
        return existing, False
    refuse_over_quota(session, benchmark.project_id)
    task_set = TaskSet(
        benchmark_id=benchmark.id,
        content_hash=content_hash,
        version=repository.last_version(session, benchmark.id) + 1,
        kind=loaded.kind,
        warnings=list(loaded.warnings),
        counts={**counts_of(loaded.tasks), **unsupported.counts_of(loaded)},
        protocols=sorted({task.evaluator.protocol for task in loaded.tasks}),
    )
    session.add(task_set)
    session.flush()  # Tasks refer to it.
    _store(session, task_set, loaded, store)
    quarantine_repository.carry_over(session, task_set)
    return task_set, True


def _lock_benchmark(session: Session, name: str, kind: str) -> Benchmark:
    repository.make(session, default_project(session).id, name, kind)
    benchmark = repository.by_name(session, name, lock=True)
    if benchmark is None or benchmark.kind != kind:
        kind_name = benchmark.kind if benchmark else "?"
        raise Conflict(
            f"{name!r} is a {kind_name} benchmark, not a {kind} one",
            code="benchmark_kind_differs",
            hint="Import it under another name.",
        )
    return benchmark


def _store(session: Session, task_set: TaskSet, loaded: LoadedBenchmark, store: ArtifactStore) -> None:
    assets = []
    for name, data in sorted(loaded.assets.items()):
        sha256 = store.put(data, "application/octet-stream")
        artifacts.register_all(session, [ArtifactRef(sha256, len(data), "application/octet-stream")])
        assets.append({"task_set_id": task_set.id, "name": name, "sha256": sha256})
    rows = {task.key: _row(task_set.id, task) for task in loaded.tasks}
    task_repository.add_all(session, list(rows.values()), assets)
    hashes = {str(asset["name"]): str(asset["sha256"]) for asset in assets}
    keep_expert_work(session, {rows[task.key]["id"]: task for task in loaded.tasks}, hashes)
    parts.add_variants(
        session,
        [
            {
                "id": uuid7(),
                "task_id": rows[variant.task.key]["id"],
                "axis": variant.axis,
                "value": variant.value,
                "spec": variant.task.model_dump(mode="json"),
            }
            for variant in loaded.variants
        ],
    )
    parts.add_selections(
        session,
        [
            {"id": uuid7(), "task_set_id": task_set.id, "name": name, "tasks": list(keys)}
            for name, keys in loaded.selections.items()
        ],
    )
    parts.apply_labels(session, task_set.benchmark_id)
    labels.count(session, task_set.id)


def _refresh_labels(session: Session, task_set: TaskSet, loaded: Sequence[domain.Task]) -> None:
    """Gives the tasks of a version that exists the labels that its files have for this release."""
    rows = {str(task.key): labels_of(task) for task in loaded}
    if labels.replace_all(session, task_set, rows):
        parts.mark_stale(session, task_set.benchmark_id)


def _row(task_set_id: UUID, task: domain.Task) -> dict[str, Any]:
    facts, spec = task.labels, task.model_dump(mode="json")
    return {
        "id": uuid7(),
        "task_set_id": task_set_id,
        "domain": task.key.domain,
        "name": task.key.name,
        "dialect": task.dialect,
        "instruction": task.instruction,
        "spec": spec,
        "content_hash": task.content_hash(),
        "difficulty": facts.difficulty,
        "difficulty_source": facts.difficulty_source,
        "level": facts.level,
        "os": facts.os,
        "feasible": facts.feasible and not task.evaluator.infeasible,
        "requires_judge": is_judged(spec),
        "apps": list(facts.apps),
        "labels": labels_of(task),
        "requires": list(facts.requires),
        "licences": dict(facts.licences),
        "human_seconds": facts.human_seconds,
        "human_steps": facts.human_steps,
    }


def counts_of(tasks: Sequence[domain.Task]) -> dict[str, Any]:
    """Number of tasks: `tasks`, `infeasible`, and by name under `domains`, `difficulties`, `levels`, `disciplines`."""
    return {
        "tasks": len(tasks),
        "infeasible": sum(not task.labels.feasible or task.evaluator.infeasible for task in tasks),
        "domains": dict(Counter(task.key.domain for task in tasks)),
        "difficulties": dict(Counter(str(task.labels.difficulty or UNLABELLED) for task in tasks)),
        "levels": dict(Counter(task.labels.level for task in tasks if task.labels.level)),
        "disciplines": dict(
            Counter(str(discipline) for task in tasks if (discipline := task.labels.extra.get("discipline")))
        ),
    }


def list_benchmarks(session: Session) -> list[Benchmark]:
    """All benchmarks, by name."""
    return repository.all_of(session, None)


def get_benchmark(session: Session, name: str) -> Benchmark:
    """The benchmark of that name. Raises NotFound, with similar names."""
    benchmark = repository.by_name(session, name)
    if benchmark is None:
        names = repository.names(session)
        near = difflib.get_close_matches(name, names, n=3)
        hint = f"Did you mean {', '.join(near)}?" if near else f"Known: {', '.join(names) or 'none; import one first'}."
        raise NotFound(f"there is no benchmark called {name!r}", code="benchmark_not_found", hint=hint)
    return benchmark


def list_task_sets(session: Session, name: str) -> list[TaskSet]:
    """A benchmark's versions, newest first."""
    return repository.task_sets(session, get_benchmark(session, name).id)


def latest_task_set(session: Session, name: str) -> TaskSet:
    """A benchmark's newest version."""
    versions = list_task_sets(session, name)
    if not versions:
        raise NotFound(f"the benchmark {name!r} has no tasks yet", code="benchmark_empty", hint="Import them.")
    return versions[0]


def version_of(session: Session, benchmark: str, version: int | None = None) -> TaskSet:
    """A version of a benchmark, the newest if None. Raises NotFound."""
    versions = list_task_sets(session, benchmark)
    candidates = [row for row in versions if version is None or row.version == version]
    if not candidates:
        versions_text = ", ".join(str(row.version) for row in versions) or "none"
        raise NotFound(
            f"the benchmark {benchmark!r} has no version {version}",
            code="version_not_found",
            hint=f"Versions: {versions_text}.",
        )
    return candidates[0]


def list_tasks(
    session: Session, task_set_id: UUID, *, cursor: str | None = None, limit: int = 100, **filters: Any
) -> CursorPage[Task]:
    """Tasks in the order of import. Filters: `domain`, `difficulty`, `level`, `app`, `feasible`, `words`, `where`."""
    return task_repository.listing(session, task_set_id, cursor=cursor, limit=limit, **filters)


def get_task(session: Session, task_id: UUID) -> Task:
    """The task. Raises NotFound."""
    task = task_repository.get(session, task_id)
    if task is None:
        raise NotFound(f"there is no task {task_id}", code="task_not_found")
    return task


def selections(session: Session, name: str) -> dict[str, list[str]]:
    """Keys of the tasks of each named selection of the newest version. Raises NotFound."""
    return parts.selections(session, latest_task_set(session, name).id)
