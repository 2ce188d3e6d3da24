"""Files of a run in a format of other tools, one after the other, with bounded memory."""

import io
from collections.abc import Iterator, Mapping
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import AgentConfiguration, Episode, Quarantine, Run
from backend.db.models.enums import Origin
from backend.db.repositories import common_queries
from backend.db.repositories.attempts import attempts
from backend.db.repositories.benchmarks import quarantine
from backend.db.repositories.common_queries import COUNTED_STATES, AnyRow
from backend.db.repositories.export import run_episodes as repository
from backend.db.repositories.export.run_episodes import RunEpisode
from backend.domain.errors import NotFound
from backend.domain.model.episode import EpisodeState
from backend.domain.model.run_export import ExportedEpisode, ExportedRun, NoResult
from backend.domain.model.trajectory_export import PictureRef
from backend.domain.ports.run_format import RunFormat
from backend.domain.ports.storage import ArtifactStore
from backend.domain.run_formats.atif import Atif
from backend.domain.run_formats.inspect_log import InspectLog
from backend.domain.run_formats.osworld import OsworldFolder
from backend.services.benchmarks.variants import task_of
from backend.services.export.export import ExportFile, Work
from backend.services.export.masks import Masker
from backend.services.export.records import TOGETHER, steps_of
from backend.services.runs.provenance import code_version

RUN_FORMATS: Mapping[str, RunFormat] = {"osworld": OsworldFolder(), "inspect": InspectLog(), "atif": Atif()}


class RunFiles:
    """One export of one run."""

    def __init__(self, work: Work, store: ArtifactStore, masker: Masker, run_id: UUID, *, pictures: bool) -> None:
        """Args: work: opens a transaction; none stays open while bytes are sent. pictures: False = without them."""
        self._work, self._store, self._masker = work, store, masker
        self._run_id, self._pictures = run_id, pictures

    def entries(self, form: RunFormat) -> Iterator[ExportFile]:
        for name, data in form.files(self._run(), self._episodes(), self._picture):
            yield ExportFile(name, io.BytesIO(data), len(data))

    def _run(self) -> ExportedRun:
        with self._work() as session:
            (row,) = common_queries.named_runs(session, [self._run_id])
            return exported_run(row, repository.passes(session, self._run_id), self._masker)

    def _episodes(self) -> Iterator[ExportedEpisode]:
        after: UUID | None = None
        while True:
            with self._work() as session:
                run = session.get_one(Run, self._run_id)
                page = repository.page(session, run.id, after, TOGETHER)
                episodes = list(self._export(session, run, page))
            yield from episodes
            if len(page) < TOGETHER:
                return
            after = page[-1].episode.id

    def _export(self, session: Session, run: Run, page: list[RunEpisode]) -> Iterator[ExportedEpisode]:
        tried = [row.attempt.id for row in page if row.attempt]
        steps = steps_of(session, tried, self._store, self._masker)
        measures = attempts.measures(session, [row.evaluation.id for row in page if row.evaluation])
        quarantined = quarantine.in_force(session, [row.task.id for row in page])
        for row in page:
            episode, task = row.episode, task_of(session, row.task, run.config)
            missing_result = no_result(episode, quarantined.get(row.task.id))
            yield ExportedEpisode(
                id=str(episode.id),
                task=task.model_copy(update={"instruction": self._masker.text(task.instruction)}),
                repeat=episode.repeat_index,
                seed=episode.seed,
                state=episode.state,
                score=None if missing_result else episode.score,
                no_result=missing_result and NoResult(missing_result.code, self._masker.text(missing_result.message)),
                ended_by=episode.ended_by or "",
                measures=measures.get(row.evaluation.id, {}) if row.evaluation else {},
                steps=tuple(steps.get(row.attempt.id, ())) if row.attempt else (),
                seconds=row.attempt.seconds if row.attempt else {},
                started_at=episode.started_at,
                ended_at=episode.ended_at,
            )

    def _picture(self, picture: PictureRef) -> bytes | None:
        try:
            return self._store.get(picture.sha256) if self._pictures else None
        except NotFound:
            return None


def exported_run(row: AnyRow, passes: int, masker: Masker) -> ExportedRun:
    """A row of `repositories.common_queries.run_columns`."""
    run: Run = row.Run
    agent: AgentConfiguration = row.AgentConfiguration
    return ExportedRun(
        id=str(run.id),
        title=run.name or f"{agent.title} on {row.benchmark}",
        benchmark={"name": row.benchmark, "version": row.version, "content_hash": row.content_hash},
        agent=agent.name,
        configuration=agent.title,
        model=str(agent.params.get("model") or agent.name),
        observation=run.config.get("observation") or "unknown",
        action_space=run.config.get("action_space") or "unknown",
        config=masker.settings(run.config),
        passes=passes,
        origin=run.origin,
        state=run.state,
        code=code_version() if run.origin == Origin.MEASURED else {},
        created_at=run.created_at,
        ended_at=run.ended_at,
    )


def no_result(episode: Episode, entry: Quarantine | None) -> NoResult | None:
    """Why the episode has no result that counts; None if it has one. `entry`: the quarantine that its task is in."""
    if entry is not None and episode.state in COUNTED_STATES:
        return NoResult("quarantined", f"its task is in quarantine: {entry.reason}")
    if episode.state == EpisodeState.SCORED and not episode.human_assisted:
        return None
    if episode.state == EpisodeState.LOST:
        return NoResult(episode.failure_code or str(episode.failure_class), episode.failure_message)
    if episode.state == EpisodeState.HANDED_IN:
        return NoResult("handed_in", "people judge this work")
    if episode.human_assisted:
        return NoResult("human_assisted", "a person helped the agent, so the score does not count for it")
    return NoResult(episode.state, episode.reason)
