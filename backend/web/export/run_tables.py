"""A whole run as one file: JSON lines, or a zip of them with a table of its episodes."""

import io
import json
import zipfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import Any

from sqlalchemy.orm import Session

from backend.services.runs import episodes as service
from backend.services.runs.views.attempt import attempt_views, step_view
from backend.services.runs.views.episode import EpisodeView
from backend.services.runs.views.run import RunView
from backend.web.table_files import csv_text

Export = Callable[[Session, RunView, Sequence[EpisodeView]], bytes]
COLUMNS = (
    "id", "task", "domain", "difficulty", "level", "repeat", "seed", "state", "outcome", "ended_by", "failure_class",
    "failure_code", "failure_message", "score", "solved", "steps", "attempts", "reason", "reason_code", "flagged",
    "started_at", "ended_at",
)  # fmt: skip


def lines(session: Session, run: RunView, episodes: Sequence[EpisodeView]) -> Iterator[Mapping[str, Any]]:
    """The run, then each episode with its attempts, and their steps and evaluations."""
    yield {"kind": "run", **run.model_dump(mode="json", exclude={"episodes"})}
    for episode in episodes:
        rows = service.located_attempts(session, episode.id)
        views = attempt_views(rows, service.evaluations(session, [row.attempt.id for row in rows]))
        yield {"kind": "episode", **episode.model_dump(mode="json")}
        for view in views:
            steps = [step_view(step).model_dump(mode="json") for step in service.steps(session, view.id)]
            yield {"kind": "attempt", **view.model_dump(mode="json"), "steps": steps}


def as_jsonl(session: Session, run: RunView, episodes: Sequence[EpisodeView]) -> bytes:
    """One JSON object per line; `kind` is run, episode or attempt."""
    return "".join(f"{json.dumps(line, ensure_ascii=False)}\n" for line in lines(session, run, episodes)).encode()


def episode_rows(episodes: Sequence[EpisodeView]) -> list[list[Any]]:
    """The values of COLUMNS of each episode."""
    return [[getattr(episode, name) for name in COLUMNS] for episode in episodes]


def as_zip(session: Session, run: RunView, episodes: Sequence[EpisodeView]) -> bytes:
    """`run.jsonl` and `episodes.csv`; pictures and trees are only linked."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("run.jsonl", as_jsonl(session, run, episodes))
        archive.writestr("episodes.csv", csv_text(COLUMNS, episode_rows(episodes)))
    return out.getvalue()


EXPORTS: Mapping[str, tuple[str, str, Export]] = {
    "jsonl": ("jsonl", "application/x-ndjson", as_jsonl),
    "zip": ("zip", "application/zip", as_zip),
}
