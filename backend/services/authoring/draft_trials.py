"""Trials of drafts: oracle, no-op and always-FAIL on real desktops."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, Run, TaskDraft, TaskDraftTrial, TaskSet
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.benchmarks import benchmarks
from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.drafts.content import DraftContent, assets_of, missing, task_of
from backend.domain.errors import Invalid
from backend.domain.model.run import VALIDATION_AGENTS
from backend.domain.model.task import LoadedBenchmark
from backend.domain.model.task import Task as DomainTask
from backend.domain.ports.storage import ArtifactStore
from backend.services.authoring.drafts import KIND, content_of, get_locked
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.services.runs.validation import start_validation, validation_report

HIDDEN = ".drafts"
"""Benchmark with the task sets of trials and recordings; imports cannot use this name."""


@dataclass(frozen=True)
class DraftTrialResult:
    """Result of a trial.

    Attributes:
        current: whether it was made with the draft's current content.
        complete: whether all three runs have ended.
        scores: by agent; None without a score.
        wrong: problems of the task, one sentence each; empty if it is sound or not known yet.
        unknown: why it is unknown although the runs have ended.
    """

    row: TaskDraftTrial
    current: bool
    complete: bool
    runs: Mapping[str, Run]
    scores: Mapping[str, float | None]
    wrong: tuple[str, ...]
    unknown: str

    @property
    def sound(self) -> bool:
        """Whether all three agents scored as required."""
        return self.complete and not self.wrong and not self.unknown

    @property
    def only_noop(self) -> bool:
        """Whether the only problem is that doing nothing scores, which the author may explain."""
        return self.complete and not self.unknown and len(self.wrong) == 1 and bool(self.scores.get("noop"))


def start_try(  # noqa: PLR0913 - what a run needs
    session: Session,
    draft_id: UUID,
    *,
    project: Project,
    actor: Actor,
    store: ArtifactStore,
    provider: str = "local",
) -> TaskDraftTrial:
    """Starts three runs on the newest version.

    Raises:
        NotFound: There is no such draft.
        Invalid: it is incomplete, or has unknown names.
        Unavailable, UnknownPlugin: see `submit_run`.
    """
    draft = get_locked(session, draft_id)
    content = content_of(session, draft)
    check_complete(content)
    task_set = scratch(session, content, task_of(content), store)
    start_validation(session, HIDDEN, project=project, actor=actor, provider=provider, task_set=task_set)
    row = TaskDraftTrial(
        draft_id=draft.id, version=draft.version, content_hash=draft.content_hash, task_set_id=task_set.id
    )
    session.add(row)
    session.flush()  # The page reads it back.
    return row


def latest_trial(session: Session, draft: TaskDraft) -> DraftTrialResult | None:
    """Newest trial of the current content, else the newest of all; None if there was none."""
    row = repository.newest_try(session, draft.id, draft.content_hash) or repository.newest_try(session, draft.id)
    if row is None:
        return None
    task_set = session.get_one(TaskSet, row.task_set_id)
    report = validation_report(session, HIDDEN, task_set)
    verdict = report.tasks[0]
    wrong = tuple(verdict.reason.split("; ")) if verdict.sound is False else ()
    return DraftTrialResult(
        row=row,
        current=row.content_hash == draft.content_hash,
        complete=report.complete,
        runs={agent: session.get_one(Run, report.runs[agent]) for agent in VALIDATION_AGENTS if agent in report.runs},
        scores=verdict.scores,
        wrong=wrong,
        unknown=verdict.reason if report.complete and verdict.sound is None else "",
    )


def check_complete(content: DraftContent) -> None:
    """Raises Invalid if a draft cannot be tried: something is missing, or a name is unknown."""
    lacking = missing(content)
    if lacking:
        raise Invalid(" ".join(lacking), code="draft_incomplete", path="draft")
    registry.load()
    wrong = lint(task_of(content), assets_of(content))
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Invalid(
            f"{wrong[0]}{more}", code="invalid_draft", path="draft", hint="The draft's page lists all problems."
        )


def scratch(session: Session, content: DraftContent, task: DomainTask, store: ArtifactStore) -> TaskSet:
    """Task set with that one task, in the hidden benchmark; reused for the same task."""
    files = {name: store.get(sha256) for name, sha256 in assets_of(content).items()}
    loaded = LoadedBenchmark(kind=KIND, tasks=(task,), assets=files)
    task_set, _ = import_benchmark(session, loaded, name=HIDDEN, title="Drafts", store=store)
    benchmark = benchmarks.by_name(session, HIDDEN)
    if benchmark is not None:
        benchmark.hidden = True
    session.flush()  # Runs refer to the task set.
    return task_set
