"""Trying a draft: oracle, no-op and always-FAIL on real desktops, before the draft counts for anything."""

from collections.abc import Mapping
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, Run, TaskDraft, TaskDraftTry, TaskSet
from backend.db.models.enums import VALIDATION_AGENTS
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.benchmarks import benchmarks
from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.drafts.content import DraftContent, assets_of, missing, task_of
from backend.domain.errors import Invalid
from backend.domain.model.task import LoadedBenchmark
from backend.domain.model.task import Task as DomainTask
from backend.domain.ports.storage import ArtifactStore
from backend.services.authoring.drafts import KIND, content_of, locked
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.services.runs.validation import start_validation, validation_report

HIDDEN = ".drafts"
"""The benchmark whose task sets are what drafts are tried and recorded with; no import can take that name."""


@dataclass(frozen=True)
class DraftTrialResult:
    """What a try found.

    Attributes:
        current: it was made with what the draft holds now.
        done: all three runs have ended.
        scores: by agent; None where there is none.
        wrong: what is wrong with the task, one sentence each; empty where it is sound, or not known yet.
        unknown: why it is not known, after the runs have ended.
    """

    row: TaskDraftTry
    current: bool
    done: bool
    runs: Mapping[str, Run]
    scores: Mapping[str, float | None]
    wrong: tuple[str, ...]
    unknown: str

    @property
    def sound(self) -> bool:
        """All three agents scored what they must."""
        return self.done and not self.wrong and not self.unknown

    @property
    def only_noop(self) -> bool:
        """Nothing is wrong but that doing nothing scores, too: the author may say why."""
        return self.done and not self.unknown and len(self.wrong) == 1 and bool(self.scores.get("noop"))


def start_try(  # noqa: PLR0913 - what a run needs
    session: Session,
    draft_id: UUID,
    *,
    project: Project,
    actor: Actor,
    store: ArtifactStore,
    provider: str = "local",
) -> TaskDraftTry:
    """Starts the three runs on the newest version.

    Raises:
        NotFound: there is no such draft.
        Invalid: it lacks something, or names what is not there.
        Unavailable, UnknownPlugin: see `submit_run`.
    """
    draft = locked(session, draft_id)
    content = content_of(session, draft)
    check_complete(content)
    task_set = scratch(session, content, task_of(content), store)
    start_validation(session, HIDDEN, project=project, actor=actor, provider=provider, task_set=task_set)
    row = TaskDraftTry(
        draft_id=draft.id, version=draft.version, content_hash=draft.content_hash, task_set_id=task_set.id
    )
    session.add(row)
    session.flush()  # The page reads it back.
    return row


def latest_trial(session: Session, draft: TaskDraft) -> DraftTrialResult | None:
    """What the newest try of the present content found; without one, the newest of all; None if there was none."""
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
        done=report.done,
        runs={agent: report.runs[agent] for agent in VALIDATION_AGENTS if agent in report.runs},
        scores=verdict.scores,
        wrong=wrong,
        unknown=verdict.reason if report.done and verdict.sound is None else "",
    )


def check_complete(content: DraftContent) -> None:
    """Raises Invalid where a draft cannot be tried: something is missing, or a name is unknown."""
    lacking = missing(content)
    if lacking:
        raise Invalid(" ".join(lacking), code="draft_incomplete", path="draft")
    registry.load()
    wrong = lint(task_of(content), assets_of(content))
    if wrong:
        more = f" (and {len(wrong) - 1} more)" if len(wrong) > 1 else ""
        raise Invalid(f"{wrong[0]}{more}", code="invalid_draft", path="draft", hint="The draft's page lists all of it.")


def scratch(session: Session, content: DraftContent, task: DomainTask, store: ArtifactStore) -> TaskSet:
    """The task set of that one task, in the benchmark that no list shows; the same task has the same one."""
    files = {name: store.get(sha256) for name, sha256 in assets_of(content).items()}
    loaded = LoadedBenchmark(kind=KIND, tasks=(task,), assets=files)
    task_set, _ = import_benchmark(session, loaded, name=HIDDEN, title="Drafts", store=store)
    benchmark = benchmarks.by_name(session, HIDDEN)
    if benchmark is not None:
        benchmark.hidden = True
    session.flush()  # Runs refer to the task set.
    return task_set
