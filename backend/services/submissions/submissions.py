"""Works that people judge: handed in by attempts, or made by human experts and brought along by the task set."""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from uuid import UUID, uuid4

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Work
from backend.db.repositories.submissions import submissions as repository
from backend.domain.errors import NotFound
from backend.domain.model.task import Task
from backend.domain.people.submissions import Form, form_of, text_of
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.artifacts import ArtifactRef

EXPERT_WORK = "expert_work"
"""The label that names the asset."""


def hand_in(session: Session, attempt: Attempt, episode: Episode, results: Sequence[tuple[str, ArtifactRef]]) -> None:
    """Keeps what an attempt left as a work; nothing where it left no file. Safe to call twice.

    Args:
        session: the transaction.
        attempt: whose work it is.
        episode: the attempt's.
        results: the files that it left, each with its name there.
    """
    files = [
        {"name": name.replace("\\", "/").rpartition("/")[2] or name, "sha256": blob.sha256} for name, blob in results
    ]
    if files:
        repository.add_all(session, [_row(episode.task_id, attempt.id, files)])


def experts(session: Session, tasks: Mapping[UUID, Task], assets: Mapping[str, str]) -> None:
    """Keeps what human experts made of a task set's tasks.

    Args:
        session: the transaction; it has stored the tasks.
        tasks: by their row's id.
        assets: hash of each of the task set's files, by name.
    """
    rows = []
    for task_id, task in tasks.items():
        name = str(task.labels.extra.get(EXPERT_WORK, ""))
        if task.evaluator.handed_in and name in assets:
            rows.append(_row(task_id, None, [{"name": name.rpartition("/")[2], "sha256": assets[name]}]))
    repository.add_all(session, rows)


def _row(task_id: UUID, attempt_id: UUID | None, files: Sequence[Mapping[str, str]]) -> dict[str, object]:
    """A random id: the order of making would tell an expert's work from the others."""
    return {"id": uuid4(), "task_id": task_id, "attempt_id": attempt_id, "files": list(files)}


def get_work(session: Session, work_id: UUID) -> Work:
    """The work. Raises NotFound."""
    found = repository.get(session, work_id)
    if found is None:
        raise NotFound("there is no such work")
    return found


@dataclass(frozen=True)
class ShownFile:
    """A file as a page shows it: a picture by its address, a text by its beginning, anything else to be saved."""

    form: Form
    size: int
    text: str = ""


def shown(store: ArtifactStore, work: Work) -> list[ShownFile]:
    """A work's files in order. Their names are not told: a name could tell whose they are."""
    found = []
    for file in work.files:
        data = store.get(str(file["sha256"]))
        form = form_of(data)
        found.append(ShownFile(form, len(data), text_of(data) if form is Form.TEXT else ""))
    return found


def read_file(session: Session, store: ArtifactStore, work_id: UUID, number: int) -> bytes:
    """The bytes of one of a work's files, counted from 0. Raises NotFound."""
    work = get_work(session, work_id)
    if not 0 <= number < len(work.files):
        raise NotFound("the work has no such file")
    return store.get(str(work.files[number]["sha256"]))
