"""Drafts of own tasks: create, edit, list. See docs/own-tasks.md."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, TypedDict, Unpack
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Project, TaskDraft, TaskDraftVersion
from backend.db.models.enums import DraftAuthor
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.benchmarks import benchmarks as benchmark_repository
from backend.db.repositories.capacity import workers
from backend.db.repositories.pagination import CursorPage
from backend.domain.drafts.content import DraftContent, read_content
from backend.domain.drafts.states import DraftState, check_draft_move
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts import artifacts
from backend.services.artifacts.storage_quota import refuse_over_quota

OWN = "own"
"""Benchmark of own tasks by default."""
KIND = "starter"
SHIPPED = re.compile(r"starter(-.*)?")
_BENCHMARK = re.compile(r"[A-Za-z0-9][A-Za-z0-9._-]{0,99}")
_FILE = re.compile(r"[A-Za-z0-9][A-Za-z0-9._ -]{0,150}")
_BYTES = "application/octet-stream"
MOST_FILE = 64 * 2**20


@dataclass(frozen=True)
class DraftOrigin:
    """First author of a draft. The hash is of the complete prompt of the model."""

    author_kind: DraftAuthor = DraftAuthor.PERSON
    model: str = ""
    prompt_hash: str = ""
    persona: str = ""


@dataclass(frozen=True)
class DraftChange:
    """One version in a draft's history."""

    version: TaskDraftVersion
    by: str


def create(  # noqa: PLR0913 - a draft and where it comes from
    session: Session,
    content: DraftContent,
    *,
    project: Project,
    author: Actor,
    benchmark: str = OWN,
    origin: DraftOrigin = DraftOrigin(),  # noqa: B008 - frozen
    note: str = "written",
) -> TaskDraft:
    """Creates a draft.

    Raises:
        Invalid: The benchmark of that name cannot take own tasks.
        Conflict: There is an unpublished draft with that key.
    """
    _check_benchmark(session, benchmark)
    _check_key(session, project.id, benchmark, content)
    draft = TaskDraft(
        project_id=project.id,
        author_id=author.id,
        benchmark=benchmark,
        version=0,
        content_hash="",
        domain=content.domain,
        name=content.name,
        author_kind=origin.author_kind.value,
        model=origin.model,
        prompt_hash=origin.prompt_hash,
        persona=origin.persona,
        updated_at=workers.now(session),
    )
    session.add(draft)
    session.flush()  # Its version refers to it.
    _add_version(session, draft, content, author, note)
    return draft


def edit(session: Session, draft_id: UUID, content: DraftContent, *, by: Actor, note: str = "edited") -> TaskDraft:
    """Creates a new version if something differs. The state becomes draft again: reviews were of another version.

    Raises:
        NotFound: There is no such draft.
        Conflict: The new key belongs to another draft.
    """
    draft = get_locked(session, draft_id)
    if content.content_hash() == draft.content_hash:
        return draft
    if (content.domain, content.name) != (draft.domain, draft.name):
        _check_key(session, draft.project_id, draft.benchmark, content)
    if DraftState(draft.state) is not DraftState.DRAFT:
        move(session, draft, DraftState.DRAFT)
    draft.approvals, draft.noop_justification, draft.published_task_set_id = 0, "", None
    _add_version(session, draft, content, by, note)
    return draft


def change(session: Session, draft_id: UUID, changes: dict[str, Any], *, by: Actor, note: str = "edited") -> TaskDraft:
    """Edits some fields of the content. Also raises Invalid."""
    draft = get_locked(session, draft_id)
    content = content_of(session, draft).model_dump(mode="json")
    return edit(session, draft_id, read_content({**content, **changes}), by=by, note=note)


class DraftMove(TypedDict, total=False):
    """Columns of a draft that may be written with its move."""

    approvals: int
    noop_justification: str
    rejection_comment: str
    rejection_reason: str


def move(session: Session, draft: TaskDraft, state: DraftState, **change: Unpack[DraftMove]) -> None:
    """Takes a draft to another state. Raises IllegalMove."""
    check_draft_move(DraftState(draft.state), state)
    draft.state, draft.updated_at = state.value, workers.now(session)
    draft.rejection_reason, draft.rejection_comment = None, ""
    for name, value in change.items():
        setattr(draft, name, value)


def add_file(  # noqa: PLR0913 - a file, where to and by whom
    session: Session, draft_id: UUID, name: str, data: bytes, *, by: Actor, store: ArtifactStore
) -> TaskDraft:
    """Adds a file that steps and getters use as `asset:NAME`; replaces one of that name.

    Raises:
        NotFound: There is no such draft.
        Invalid: the name is not valid, or the file is empty or too large.
        Conflict: the project is over its disk quota.
    """
    if not _FILE.fullmatch(name):
        raise Invalid("expected letters, digits, blanks, . _ - in a file's name", code="invalid_name", path="name")
    if not 0 < len(data) <= MOST_FILE:
        raise Invalid(f"expected a file of 1 byte to {MOST_FILE >> 20} MiB", code="invalid_file", path="file")
    draft = get_locked(session, draft_id)
    refuse_over_quota(session, draft.project_id)
    sha256 = store.put(data, _BYTES)
    artifacts.register(session, sha256, len(data), _BYTES)
    repository.add_asset(session, draft.id, sha256)
    assets = content_of(session, draft).assets
    return change(session, draft_id, {"assets": {**assets, name: sha256}}, by=by, note=f"file {name}")


def get_draft(session: Session, draft_id: UUID) -> TaskDraft:
    """The draft. Raises NotFound."""
    return _there(repository.get(session, draft_id), draft_id)


def get_locked(session: Session, draft_id: UUID) -> TaskDraft:
    """The draft, locked until the commit. Raises NotFound."""
    return _there(repository.lock(session, draft_id), draft_id)


def content_of(session: Session, draft: TaskDraft, number: int | None = None) -> DraftContent:
    """Content of a version; None = the newest. Raises NotFound."""
    row = repository.version(session, draft.id, draft.version if number is None else number)
    if row is None:
        raise NotFound(
            f"the draft {draft.id} has no version {number}",
            code="version_not_found",
            hint=f"The newest is {draft.version}.",
        )
    return DraftContent.model_validate(row.content)


COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


def list_drafts(
    session: Session, project: Project, *, cursor: str | None = None, limit: int = 50, **filters: Any
) -> CursorPage[TaskDraft]:
    """Drafts, newest first, or in another order (`order`). Filters: `states`, `benchmark`, `words`."""
    return repository.listing(session, project.id, cursor=cursor, limit=limit, **filters)


def history(session: Session, draft: TaskDraft) -> Sequence[DraftChange]:
    """Every version, newest first."""
    return [DraftChange(row.TaskDraftVersion, row.name) for row in repository.versions(session, draft.id)]


def _there(draft: TaskDraft | None, draft_id: UUID) -> TaskDraft:
    if draft is None:
        raise NotFound(
            f"there is no draft {draft_id}", code="draft_not_found", hint="`deskarena task list` shows them."
        )
    return draft


def _check_benchmark(session: Session, name: str) -> None:
    """Own tasks go to a benchmark of our format that is not shipped: a shipped one is replaced at the next start."""
    if not _BENCHMARK.fullmatch(name):
        raise Invalid("expected letters, digits, . _ - in a benchmark's name", code="invalid_name", path="benchmark")
    existing = benchmark_repository.by_name(session, name)
    if SHIPPED.fullmatch(name) or (existing is not None and existing.kind != KIND):
        raise Invalid(
            f"{name!r} does not take your own tasks",
            code="benchmark_not_writable",
            path="benchmark",
            hint="Choose another, for example `own`.",
        )


def _check_key(session: Session, project_id: UUID, benchmark: str, content: DraftContent) -> None:
    existing = repository.open_one(session, project_id, benchmark, content.domain, content.name)
    if existing is not None:
        hint = f"Edit that one, or choose another name: /tasks/drafts/{existing.id}"
        raise Conflict(f"a draft of {content.key} for {benchmark} already exists", code="draft_exists", hint=hint)


def _add_version(session: Session, draft: TaskDraft, content: DraftContent, by: Actor, note: str) -> None:
    assets = repository.assets(session, draft.id)
    for name, sha256 in content.assets.items():
        if sha256 not in assets:
            raise Invalid(
                "this file was not uploaded for the draft",
                code="file_not_uploaded",
                path=f"assets.{name}",
                hint="Upload it first.",
            )
    draft.version += 1
    draft.content_hash, draft.updated_at = content.content_hash(), workers.now(session)
    draft.domain, draft.name, draft.instruction = content.domain, content.name, content.instruction
    session.add(
        TaskDraftVersion(
            draft_id=draft.id,
            number=draft.version,
            content=content.model_dump(mode="json"),
            content_hash=draft.content_hash,
            actor_id=by.id,
            note=note,
        )
    )
    session.flush()  # What follows in the same transaction reads the newest version.
