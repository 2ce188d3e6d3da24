"""Submissions that people judge: files left by attempts, or made by human experts (`benchmarks.expert_work`)."""

from collections.abc import Sequence
from dataclasses import dataclass
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Submission
from backend.db.repositories.submissions import submissions as repository
from backend.domain.errors import NotFound
from backend.domain.people.submissions import DisplayForm, form_of, text_of
from backend.domain.ports.storage import ArtifactStore
from backend.services.artifacts.artifacts import ArtifactRef


def hand_in(session: Session, attempt: Attempt, episode: Episode, results: Sequence[tuple[str, ArtifactRef]]) -> None:
    """Stores the files that an attempt left as a submission; does nothing without files. Safe to call twice.

    Args:
        session: the transaction.
        attempt: the attempt.
        episode: the attempt's episode.
        results: its files with their names.
    """
    files = [
        {"name": name.replace("\\", "/").rpartition("/")[2] or name, "sha256": blob.sha256} for name, blob in results
    ]
    if files:
        repository.add_all(session, [repository.row_of(episode.task_id, attempt.id, files)])


def get_work(session: Session, work_id: UUID) -> Submission:
    """The submission. Raises NotFound."""
    work = repository.get(session, work_id)
    if work is None:
        raise NotFound("Submission not found.", code="submission_not_found")
    return work


@dataclass(frozen=True)
class ShownFile:
    """A file on a page: a picture by address, the beginning of a text, anything else as a download."""

    form: DisplayForm
    size: int
    text: str = ""


def submission_files(store: ArtifactStore, work: Submission) -> list[ShownFile]:
    """A submission's files in order, without names, which could reveal the author."""
    files = []
    for file in work.files:
        data = store.get(str(file["sha256"]))
        form = form_of(data)
        files.append(ShownFile(form, len(data), text_of(data) if form is DisplayForm.TEXT else ""))
    return files


def read_file(session: Session, store: ArtifactStore, work_id: UUID, number: int) -> bytes:
    """The bytes of a submission's file, counted from 0. Raises NotFound."""
    work = get_work(session, work_id)
    if not 0 <= number < len(work.files):
        raise NotFound("The submission has no such file.", code="file_not_found")
    return store.get(str(work.files[number]["sha256"]))
