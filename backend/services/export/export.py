"""Files of an export, one after the other, with bounded memory."""

import hashlib
import io
import json
import tempfile
from collections.abc import Callable, Iterator, Sequence
from contextlib import AbstractContextManager, closing
from dataclasses import dataclass, field
from itertools import islice
from typing import IO
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.repositories.export import training_data as repository
from backend.db.repositories.export.training_data import Scope, TrainingEpisode
from backend.domain import registry
from backend.domain.errors import NotFound
from backend.domain.model.export_request import ExportRequest, check_form
from backend.domain.model.trajectory_export import PictureRef
from backend.domain.ports.storage import ArtifactStore
from backend.domain.ports.training import TrainingForm
from backend.domain.registry import PluginKind
from backend.services.export.counts import scope_of
from backend.services.export.manifest import Manifest
from backend.services.export.masks import Masker
from backend.services.export.once import Pictures
from backend.services.export.records import episodes_with_records, source_of
from backend.services.export.rows import Row, RowWriter, json_line, writer_of

PART = 200
"""Trajectories per file of rows."""
IN_MEMORY = 8 * 2**20
CHUNK = 2**18
Work = Callable[[], AbstractContextManager[Session]]


@dataclass
class ExportFile:
    """A file of the export: its bytes are read once, in order. `file` is at its beginning."""

    name: str
    file: IO[bytes]
    size: int

    def chunks(self) -> Iterator[bytes]:
        """Yields the bytes; closes the file at the end."""
        with self.file:
            while data := self.file.read(CHUNK):
                yield data


@dataclass
class _PendingFile:
    """A file that is being written, in memory while it is small."""

    name: str
    file: IO[bytes] = field(default_factory=lambda: tempfile.SpooledTemporaryFile(max_size=IN_MEMORY))  # noqa: SIM115
    rows: int = 0

    def line(self, row: Row) -> None:
        """Appends a JSON line."""
        self.file.write(json_line(row))
        self.rows += 1

    def done(self, manifest: Manifest) -> ExportFile:
        """The finished file, recorded in the manifest."""
        size = self.file.tell()
        self.file.seek(0)
        digest = hashlib.sha256()
        while data := self.file.read(CHUNK):
            digest.update(data)
        manifest.file(self.name, digest.hexdigest(), size, self.rows)
        self.file.seek(0)
        return ExportFile(self.name, self.file, size)


class Export:
    """One export.

    Order of files: `data/part-00000.jsonl` and on, `index.jsonl` (provenance of each trajectory), `excluded.jsonl`,
    pictures by hash, `images.jsonl`, and `manifest.json` with the hashes of all but the pictures, whose names are their
    hashes. Episodes are in order of creation, so equal data give equal bytes.
    """

    def __init__(
        self, work: Work, store: ArtifactStore, masker: Masker, project_id: UUID, request: ExportRequest
    ) -> None:
        """Validates the request before the first byte.

        Args:
            work: opens a transaction; none stays open while bytes are sent.
            store: store with the pictures.
            masker: removes secrets.
            project_id: project of the episodes.
            request: content and format.

        Raises:
            UnknownPlugin: There is no such form.
            Invalid: The form has no table.
            Unavailable: A library for the format is not installed.
        """
        registry.load()
        self._form: TrainingForm = registry.lookup(PluginKind.TRAINING, request.form)()
        check_form(request.form, request.format, self._form.columns)
        self._writer: RowWriter = writer_of(request.format, self._form.columns)
        self._work, self._store, self._masker = work, store, masker
        self._project_id, self._request = project_id, request
        self._manifest = Manifest(request, masker)
        self._index, self._excluded = _PendingFile("index.jsonl"), _PendingFile("excluded.jsonl")

    def entries(self) -> Iterator[ExportFile]:
        with closing(Pictures()) as pictures:
            with self._work() as session:
                scope = scope_of(session, self._project_id, self._request.filters)
            for number, entry in enumerate(self._parts(scope, pictures)):
                if number >= self._request.from_part:
                    yield entry
                else:
                    entry.file.close()
            yield self._index.done(self._manifest)
            yield self._excluded_file(scope)
            yield from self._pictures(pictures)
        text = json.dumps(self._manifest.as_json(), indent=2, ensure_ascii=False).encode()
        yield _whole("manifest.json", text)

    def _parts(self, scope: Scope, pictures: Pictures) -> Iterator[ExportFile]:
        """Files of rows, each with the next `PART` episodes; files without any trajectory are omitted."""
        after: UUID | None = None
        number = 0
        while True:
            part = _PendingFile(f"data/part-{number:05}.{self._writer.suffix}")
            with self._work() as session:
                page = repository.page(session, scope, after, PART)
                part.rows = self._writer.write(self._rows(session, page, pictures), part.file)
            if part.rows:
                yield part.done(self._manifest)
                number += 1
            else:
                part.file.close()
            if len(page) < PART:
                return
            after = page[-1].episode.id

    def _rows(self, session: Session, page: Sequence[TrainingEpisode], pictures: Pictures) -> Iterator[Row]:
        for row, trajectory in episodes_with_records(session, page, self._store, self._masker):
            refusal = self._form.refuses(trajectory)
            if refusal:
                self._leave_out(row.episode.id, row.run.id, str(trajectory.task.key), refusal)
                continue
            self._manifest.add(row, trajectory)
            pictures.add(self._form.pictures(trajectory))
            more = {
                "task": str(trajectory.task.key),
                "agent": trajectory.agent,
                "configuration": row.agent.title,
                "agent_kind": trajectory.kind.value,
            }
            outcome = {
                "result": trajectory.result.value,
                "score": trajectory.score,
                "measures": dict(trajectory.measures),
            }
            self._index.line({"trajectory": trajectory.id, **more, **outcome, **source_of(row)})
            yield from self._form.rows(trajectory)

    def _excluded_file(self, scope: Scope) -> ExportFile:
        """List of what was left out, with reasons."""
        after: UUID | None = None
        while True:
            with self._work() as session:
                rows = repository.excluded_episodes(session, scope, after, PART)
            for row in rows:
                self._leave_out(*row)
            if len(rows) < PART:
                return self._excluded.done(self._manifest)
            after = rows[-1][0]

    def _leave_out(self, episode: UUID, run: UUID, task: str, reason: str) -> None:
        self._manifest.excluded[reason] += 1
        self._excluded.line({"episode": str(episode), "run": str(run), "task": task, "reason": reason})

    def _pictures(self, pictures: Pictures) -> Iterator[ExportFile]:
        """Pictures, each once, and their list."""
        listed = _PendingFile("images.jsonl")
        remaining = iter(pictures)
        while some := list(islice(remaining, PART)):
            with self._work() as session:
                sizes = repository.sizes(session, [picture.sha256 for picture in some])
            for picture in some:
                yield from self._picture(picture, sizes[picture.sha256], listed)
        yield listed.done(self._manifest)

    def _picture(self, picture: PictureRef, size: int, listed: _PendingFile) -> Iterator[ExportFile]:
        row = {"sha256": picture.sha256, "name": picture.path, "media_type": picture.media_type, "bytes": size}
        if self._request.pictures:
            try:
                yield _whole(picture.path, self._store.get(picture.sha256))
            except NotFound:
                self._manifest.pictures_missing += 1
                listed.line({**row, "missing": True})
                return
        self._manifest.pictures += 1
        self._manifest.picture_bytes += size
        listed.line(row)


def _whole(name: str, data: bytes) -> ExportFile:
    return ExportFile(name, io.BytesIO(data), len(data))
