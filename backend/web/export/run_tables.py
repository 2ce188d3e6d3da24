"""A whole run as one file: JSON lines, or a zip of them with a table of its episodes."""

import io
import tempfile
from collections.abc import Callable, Iterator, Sequence
from typing import Any, TypeVar
from uuid import UUID

from sqlalchemy.orm import Session

from backend.domain.formats.foreign_text import csv_text
from backend.services.export.archives import as_zip
from backend.services.export.export import IN_MEMORY, ExportFile, Work
from backend.services.runs import episodes as service
from backend.services.runs import runs
from backend.services.runs.views.attempt import attempt_views, step_view
from backend.services.runs.views.episode import EpisodeView, episode_view
from backend.services.runs.views.run import RunView

COLUMNS = (
    "id", "task", "domain", "difficulty", "level", "repeat", "seed", "state", "outcome", "ended_by", "failure_class",
    "failure_code", "failure_message", "score", "solved", "steps", "attempts", "reason", "reason_code", "flagged",
    "started_at", "ended_at",
)  # fmt: skip
TOGETHER = 200
"""Episodes that are read in one transaction."""
Part = TypeVar("Part")


def as_jsonl(work: Work, run: RunView) -> Iterator[bytes]:
    """One JSON object per line; `kind` is run, episode or attempt. The run comes first, attempts follow their episode.

    Args:
        work: opens a transaction; none stays open while bytes are sent.
        run: the run.
    """
    yield _line("run", run.model_dump_json(exclude={"episodes"}))
    yield from _pages(work, run.id, lambda session, episodes: b"".join(_lines(session, episodes)))


def zip_tables(work: Work, run: RunView) -> Iterator[bytes]:
    """`run.jsonl` and `episodes.csv`; pictures and trees are only linked."""
    return as_zip(_files(work, run))


def _files(work: Work, run: RunView) -> Iterator[ExportFile]:
    lines = tempfile.SpooledTemporaryFile(max_size=IN_MEMORY)  # noqa: SIM115 - its reader closes it
    size = sum(lines.write(part) for part in as_jsonl(work, run))
    lines.seek(0)
    yield ExportFile("run.jsonl", lines, size)
    pages = _pages(work, run.id, lambda _, episodes: episode_rows(episodes))
    table = csv_text(COLUMNS, [row for rows in pages for row in rows]).encode()
    yield ExportFile("episodes.csv", io.BytesIO(table), len(table))


def _pages(work: Work, run_id: UUID, part_of: Callable[[Session, list[EpisodeView]], Part]) -> Iterator[Part]:
    """Result of `part_of` for each page of the run's episodes."""
    cursor: str | None = None
    while True:
        with work() as session:
            config = runs.get_run(session, run_id).config
            page = service.list_episodes(session, run_id=run_id, cursor=cursor, limit=TOGETHER)
            # Wait reasons are momentary, not part of the results.
            part = part_of(session, [episode_view(row, config) for row in page.items])
        yield part
        if page.next is None:
            return
        cursor = page.next


def _lines(session: Session, episodes: Sequence[EpisodeView]) -> Iterator[bytes]:
    """Each episode with its attempts, and their steps and evaluations."""
    by_episode = service.attempts_of(session, [episode.id for episode in episodes])
    located = [row for rows in by_episode.values() for row in rows]
    ids = [row.attempt.id for row in located]
    views = {view.id: view for view in attempt_views(located, service.evaluations(session, ids))}
    steps = service.steps_of_attempts(session, ids)
    for episode in episodes:
        yield _line("episode", episode.model_dump_json())
        for row in by_episode.get(episode.id, ()):
            own = ",".join(step_view(step).model_dump_json() for step in steps.get(row.attempt.id, ()))
            yield _line("attempt", f'{views[row.attempt.id].model_dump_json()[:-1]},"steps":[{own}]}}')


def _line(kind: str, text: str) -> bytes:
    """A line from the text of a JSON object."""
    return f'{{"kind":"{kind}",{text[1:]}\n'.encode()


def episode_rows(episodes: Sequence[EpisodeView]) -> list[list[Any]]:
    """The values of COLUMNS of each episode."""
    return [[getattr(episode, name) for name in COLUMNS] for episode in episodes]
