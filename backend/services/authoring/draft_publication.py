"""Publishes approved drafts as the next version of their benchmark; old versions are not changed."""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Project, TaskDraft, TaskSet
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.benchmarks import benchmark_parts as parts
from backend.db.repositories.benchmarks import benchmarks
from backend.db.repositories.benchmarks import tasks as task_repository
from backend.domain.drafts.content import DraftContent, assets_of, task_of
from backend.domain.errors import Conflict
from backend.domain.model.task import LoadedBenchmark, Task, Variant
from backend.domain.ports.storage import ArtifactStore
from backend.services.authoring.drafts import KIND, OWN, content_of
from backend.services.benchmarks.benchmarks import import_benchmark

TITLE = "Own tasks"


@dataclass(frozen=True)
class Publication:
    """The new version and the drafts in it."""

    task_set: TaskSet
    drafts: Sequence[TaskDraft]


@dataclass(frozen=True)
class _PreviousVersion:
    """Content of the benchmark's newest version."""

    tasks: Mapping[str, Task]
    variants: Sequence[Variant]
    selections: Mapping[str, tuple[str, ...]]
    assets: Mapping[str, str]


def publish(
    session: Session,
    project: Project,
    *,
    store: ArtifactStore,
    benchmark: str = OWN,
    only: Collection[UUID] = (),
) -> Publication:
    """Creates a benchmark's next version from its newest one and the approved drafts.

    A draft with an existing key replaces that task. Variants of other tasks and selections stay.

    Args:
        session: the transaction.
        project: project of the drafts.
        store: store of files.
        benchmark: its name; created if missing.
        only: these drafts; empty = all approved, unpublished ones.

    Raises:
        Conflict: There is none to publish.
    """
    drafts = [
        row for row in repository.unpublished_drafts(session, project.id, benchmark) if not only or row.id in only
    ]
    absent = set(only) - {row.id for row in drafts}
    if absent or not drafts:
        which = f"the draft {min(absent, key=str)} is" if absent else "no draft is"
        raise Conflict(
            f"{which} approved and waits for {benchmark!r}",
            code="drafts_not_approved",
            hint="Drafts need the approval of two people.",
        )
    contents = [content_of(session, row) for row in drafts]
    loaded = _merge(_old(session, benchmark), contents, store)
    task_set, _ = import_benchmark(session, loaded, name=benchmark, title=_title(session, benchmark), store=store)
    for row in drafts:
        row.published_task_set_id = task_set.id
    session.flush()  # The answer counts what is left to publish.
    return Publication(task_set, drafts)


def _title(session: Session, benchmark: str) -> str:
    existing = benchmarks.by_name(session, benchmark)
    return TITLE if existing is None and benchmark == OWN else ""


def _old(session: Session, benchmark: str) -> _PreviousVersion:
    existing = benchmarks.by_name(session, benchmark, lock=True)
    sets = benchmarks.task_sets(session, existing.id) if existing is not None else []
    if not sets:
        return _PreviousVersion({}, (), {}, {})
    newest = sets[0]
    variants = [
        Variant(axis=row.axis, value=row.value, task=Task.model_validate(row.spec))
        for _, row in parts.variants_of_set(session, newest.id)
    ]
    return _PreviousVersion(
        {row.key: Task.model_validate(row.spec) for row in task_repository.all_of(session, newest.id)},
        variants,
        {name: tuple(keys) for name, keys in parts.selections(session, newest.id).items()},
        benchmarks.assets(session, newest.id),
    )


def _merge(old: _PreviousVersion, contents: Sequence[DraftContent], store: ArtifactStore) -> LoadedBenchmark:
    fresh = {content.key: task_of(content) for content in contents}
    old_assets = {name: sha for name, sha in old.assets.items() if not any(name.startswith(f"{key}/") for key in fresh)}
    files = {**old_assets, **{name: sha for content in contents for name, sha in assets_of(content).items()}}
    return LoadedBenchmark(
        kind=KIND,
        tasks=tuple({**old.tasks, **fresh}.values()),
        variants=tuple(variant for variant in old.variants if str(variant.task.key) not in fresh),
        selections=old.selections,
        assets={name: store.get(sha256) for name, sha256 in files.items()},
    )
