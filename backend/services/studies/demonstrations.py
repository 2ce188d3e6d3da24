"""Sets of demonstrations: imported, taken from a run, listed."""

import re
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session
from uuid_utils.compat import uuid7

from backend.db.models import (
    Actor,
    Attempt,
    DemonstrationRecord,
    DemonstrationSet,
    DemonstrationStepRecord,
    Project,
    Run,
    Step,
    Task,
)
from backend.db.repositories.pagination import CursorPage
from backend.db.repositories.studies import demonstrations as repository
from backend.domain.demonstrations.pictures import picture_of, tree_of
from backend.domain.demonstrations.read import read_set
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.demonstration import (
    MOST_STEPS,
    Box,
    Demonstration,
    DemonstrationStep,
    Reference,
    ReferenceAction,
    SetForm,
)
from backend.domain.model.sort_order import SortOrder
from backend.domain.model.task import digest
from backend.domain.model.trajectory import Action, Mark
from backend.domain.ports.storage import ArtifactStore
from backend.domain.screen.tree import nodes
from backend.services.artifacts import artifacts
from backend.services.artifacts.artifacts import ArtifactRef
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.benchmarks.variants import task_of
from backend.services.runs.runs import get_run

NAME = r"^[A-Za-z0-9][A-Za-z0-9._-]{0,99}$"
_XML = "application/xml"
_NARROWEST, _LOWEST = 320, 240
"""Pixels of the smallest screen."""


@dataclass(frozen=True)
class SetDetail:
    """A set with the numbers of what is in it."""

    row: DemonstrationSet
    demonstrations: int
    steps: int


@dataclass(frozen=True)
class NewSet:
    """A set to make: its name, where it is from, and who makes it."""

    name: str
    source: str
    project: Project
    actor: Actor


def import_set(session: Session, new: NewSet, form: SetForm, folder: Path, store: ArtifactStore) -> DemonstrationSet:
    """Imports the demonstrations of a folder; nothing is written unless all of them are valid.

    Raises:
        Invalid: a file is not as its form has it, or the name is not valid.
        Conflict: there is another set of that name, or the project is over its disk quota.
    """
    if form is SetForm.RUN:
        raise Invalid(
            "a set of a run's episodes is created from the run, not imported", code="invalid_request", path="form"
        )
    demonstrations = read_set(form, folder)
    content = digest([demonstration.model_dump(mode="json") for demonstration in demonstrations])
    existing = _existing_set(session, new, form, content)
    if existing is not None:
        return existing
    refuse_over_quota(session, new.project.id)
    row = _add(session, new, form, content)
    for demonstration in demonstrations:
        record = _record(session, row, demonstration)
        for index, step in enumerate(demonstration.steps):
            data = _file(folder, step.image)
            session.add(_imported_step(session, record.id, index, step, data, store))
    return row


def _file(folder: Path, name: str) -> bytes:
    path = folder / name
    if ".." in Path(name).parts or Path(name).is_absolute() or path.is_symlink() or not path.is_file():
        raise Invalid("the set has no such picture", code="demonstrations_invalid", path=name[:300])
    return path.read_bytes()


def _imported_step(  # noqa: PLR0913, PLR0917 - the step and where it goes
    session: Session, demonstration_id: UUID, index: int, step: DemonstrationStep, data: bytes, store: ArtifactStore
) -> DemonstrationStepRecord:
    frame, step = picture_of(step, data)
    tree = (step.tree or tree_of(step.elements)).encode()
    refs = [ArtifactRef(store.put(frame.data, frame.media_type), len(frame.data), frame.media_type)]
    if tree:
        refs.append(ArtifactRef(store.put(tree, _XML), len(tree), _XML))
    artifacts.register_all(session, refs)
    return DemonstrationStepRecord(
        demonstration_id=demonstration_id,
        index=index,
        frame_sha256=refs[0].sha256,
        frame_media_type=frame.media_type,
        width=frame.width,
        height=frame.height,
        tree_sha256=refs[1].sha256 if tree else None,
        reference=step.reference.model_dump(mode="json"),
        words=step.words,
    )


def set_from_run(
    session: Session, new: NewSet, run_id: UUID, store: ArtifactStore, *, least_score: float = 1.0
) -> DemonstrationSet:
    """Takes the trajectories of a run's episodes with at least that score; each step with actions is one step.

    Raises:
        NotFound: there is no such run.
        Invalid: no episode has the score and steps with a picture and actions, or the name is not valid.
        Conflict: there is another set of that name, or the project is over its disk quota.
    """
    run = get_run(session, run_id)
    rows = repository.scored_attempts(session, run.id, least_score)
    content = digest([str(row.Attempt.id) for row in rows])
    existing = _existing_set(session, new, SetForm.RUN, content)
    if existing is not None:
        return existing
    refuse_over_quota(session, new.project.id)
    row = _add(session, new, SetForm.RUN, content)
    number = sum(_add_attempt(session, row, source.Attempt, source.Task, source.Run, store) for source in rows)
    if not number:
        raise Invalid(
            f"no episode of the run has a score of {least_score:g} or more, and steps with a picture and actions",
            code="demonstrations_invalid",
            path="run",
        )
    return row


def _add_attempt(  # noqa: PLR0913, PLR0917 - an attempt with what it belongs to
    session: Session, row: DemonstrationSet, attempt: Attempt, task: Task, run: Run, store: ArtifactStore
) -> int:
    """Adds one attempt; returns the number of its steps."""
    usable = [step for step in repository.recorded_steps(session, attempt.id) if _is_usable(step)][:MOST_STEPS]
    if not usable:
        return 0
    own = task_of(session, task, run.config)
    named = {"domain": own.key.domain, "difficulty": own.labels.difficulty, "level": own.labels.level}
    record = DemonstrationRecord(
        set_id=row.id,
        attempt_id=attempt.id,
        key=f"{own.key}#{attempt.id.hex[-12:]}",
        instruction=own.instruction,
        platform="Windows" if own.labels.os == "windows" else "Linux",
        labels={name: str(value) for name, value in named.items() if value},
    )
    session.add(record)
    session.flush()  # Its steps refer to it.
    for step in usable:
        session.add(_recorded_step(record.id, step, str(run.config.get("action_space") or ""), store))
    return len(usable)


def _is_usable(step: Step) -> bool:
    is_screen = (step.width or 0) >= _NARROWEST and (step.height or 0) >= _LOWEST
    return bool(step.actions and not step.invalid and step.frame_sha256 and is_screen)


def _recorded_step(demonstration_id: UUID, step: Step, space: str, store: ArtifactStore) -> DemonstrationStepRecord:
    actions = [Action.model_validate(action) for action in step.actions]
    find = _finder(step, store)
    points = [(action.x, action.y) for action in actions]
    right = [
        ReferenceAction(action=action, boxes=find(x, y) if x is not None and y is not None else ())
        for action, (x, y) in zip(actions, points, strict=True)
    ]
    return DemonstrationStepRecord(
        demonstration_id=demonstration_id,
        index=step.index,
        frame_sha256=step.frame_sha256,
        frame_media_type=step.frame_media_type or "image/jpeg",
        width=step.width,
        height=step.height,
        tree_sha256=step.a11y_sha256,
        reference=Reference(actions=tuple(right)).model_dump(mode="json"),
        words=step.explanation[:10_000],
        # A person's step has no reply of the agent.
        reply=step.reply if step.extras.get("by", "agent") == "agent" else "",
        action_space=space,
    )


def _finder(step: Step, store: ArtifactStore) -> Callable[[int, int], tuple[Box, ...]]:
    """Finds the smallest element at a point, in the step's marks and its accessibility tree."""
    marks = [Mark.model_validate(mark) for mark in step.extras.get("marks") or ()]
    sizes = [(mark.x, mark.y, mark.width, mark.height) for mark in marks]
    if step.a11y_sha256:
        try:
            elements = nodes(store.get(step.a11y_sha256).decode(errors="replace"))
        except Invalid:
            elements = []  # A guest's tree may be damaged; the step is as good without.
        sizes += [(element.x, element.y, element.width, element.height) for element in elements]
    boxes = [Box(x=x, y=y, width=width, height=height) for x, y, width, height in sizes if width > 0 and height > 0]

    def find(x: int, y: int) -> tuple[Box, ...]:
        at = [box for box in boxes if box.holds(x, y)]
        return (min(at, key=lambda box: box.width * box.height),) if at else ()

    return find


def _existing_set(session: Session, new: NewSet, form: SetForm, content: str) -> DemonstrationSet | None:
    """The same set, if it is there already. Raises Invalid, Conflict."""
    if not re.fullmatch(NAME, new.name):
        raise Invalid("expected letters, digits, dots, dashes and underscores", code="invalid_name", path="name")
    existing = repository.by_name(session, new.project.id, new.name)
    if existing is not None and (existing.form, existing.content_hash) != (form.value, content):
        raise Conflict(
            f"there is another set of demonstrations called {new.name!r}",
            code="name_already_used",
            hint="Choose another name: a set never changes.",
        )
    return existing


def _add(session: Session, new: NewSet, form: SetForm, content: str) -> DemonstrationSet:
    row = DemonstrationSet(
        id=uuid7(),
        project_id=new.project.id,
        actor_id=new.actor.id,
        name=new.name,
        form=form.value,
        source=new.source[:2000],
        content_hash=content,
    )
    session.add(row)
    session.flush()  # Its demonstrations refer to it.
    return row


def _record(session: Session, row: DemonstrationSet, demonstration: Demonstration) -> DemonstrationRecord:
    values: dict[str, Any] = {name: getattr(demonstration, name) for name in ("instruction", "note", "platform")}
    record = DemonstrationRecord(set_id=row.id, key=demonstration.id, labels=dict(demonstration.labels), **values)
    session.add(record)
    session.flush()  # Its steps refer to it.
    return record


def get_set(session: Session, project: Project, name: str) -> SetDetail:
    """A set by its name. Raises NotFound."""
    row = repository.by_name(session, project.id, name)
    if row is None:
        raise NotFound(
            f"there is no set of demonstrations {name[:100]!r}",
            code="demonstrations_not_found",
            hint="`deskarena demonstrations list` shows them.",
        )
    return _details(session, [row])[0]


COLUMNS = frozenset(repository.ORDER)
"""Columns by which the list can be sorted."""


def list_sets(
    session: Session, project: Project, *, cursor: str | None = None, limit: int = 50, order: SortOrder | None = None
) -> CursorPage[SetDetail]:
    """Sets, newest first or in another order."""
    page = repository.listing(session, project.id, cursor=cursor, limit=limit, order=order)
    return CursorPage(items=_details(session, page.items), next=page.next)


def _details(session: Session, rows: Sequence[DemonstrationSet]) -> list[SetDetail]:
    counts = repository.counts(session, [row.id for row in rows])
    return [SetDetail(row, *counts.get(row.id, (0, 0))) for row in rows]
