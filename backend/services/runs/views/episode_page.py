"""Page of one episode."""

from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Attempt, Episode, Run
from backend.db.models.enums import Purpose
from backend.db.repositories.authoring import drafts
from backend.db.repositories.runs import episode_view as repository
from backend.domain.errors import NotFound
from backend.domain.model.episode import EpisodeState, RunState
from backend.domain.model.run import ScreenSize
from backend.services.attempts import reevaluation
from backend.services.attempts.views import RescoreView, rescore_view
from backend.services.configurations.configuration_ref import ConfigurationRef, configuration_ref
from backend.services.judging.judges import JudgeCost, cost_of_attempt
from backend.services.lifecycle.human_runs import is_lost
from backend.services.runs import episodes
from backend.services.runs.episodes import EpisodeSummary
from backend.services.runs.views.attempt import (
    AttemptView,
    EvaluationView,
    attempt_views,
    evaluation_view,
)
from backend.services.runs.views.episode import EpisodeView, episode_view, without_result
from backend.services.runs.views.run_page import PHASES, PhaseSeconds
from backend.services.runs.views.step_list import StepList, step_list
from backend.services.scheduling.wait_reasons import explain


@dataclass(frozen=True)
class EpisodePage:
    """The whole page. `anew`: feasibility answer of the person whose desktop was lost (yes, no); else empty.

    Attributes:
        episode: without its score while it is `unrated`.
        unrated: a person's ended task that is not rated: its result is hidden.
        attempt: selected attempt.
        newer: whether the benchmark's newest version also has the task.
    """

    episode: EpisodeView
    run_title: str
    benchmark: str
    version: int
    configuration: ConfigurationRef
    instruction: str
    repeats: int
    before: UUID | None
    after: UUID | None
    attempts: list[AttemptView]
    attempt: AttemptView | None
    steps: StepList
    evaluations: list[EvaluationView]
    rescores: list[RescoreView]
    can_rescore: bool
    asks_judge: bool
    newer: bool
    human: bool
    screen: ScreenSize
    unrated: bool
    first_run: str
    draft: UUID | None
    anew: str
    judged: JudgeCost | None

    @property
    def repeated(self) -> bool:
        """The first evaluation gave no verdict, a repeated one did."""
        return any(evaluation.failure for evaluation in self.evaluations) and any(
            evaluation.current for evaluation in self.evaluations
        )


def episode_page(
    session: Session, episode_id: UUID, number: int | None, step: int | None = None, *, whole: bool = False
) -> EpisodePage:
    """One episode with one of its attempts (default: the newest).

    Args:
        session: the transaction.
        episode_id: the episode.
        number: of the attempt.
        step: number of the selected step (default: the last one), which decides what part of the steps is listed.
        whole: list all steps.

    Raises:
        NotFound: there is no such episode or attempt.
    """
    row = repository.episode(session, episode_id)
    if row is None:
        raise NotFound("Episode not found.", code="episode_not_found", hint="Open it from the list of its run.")
    rows = episodes.located_attempts(session, episode_id)
    attempts = attempt_views(rows, [])
    attempt = _select_attempt(attempts, number)
    before, after = repository.neighbours(session, row.Run.id, episode_id)
    episode, task, run = row.Episode, row.Task, row.Run
    configuration = configuration_ref(row.AgentConfiguration)
    newest = rows[-1].attempt if rows else None
    unrated = row.AgentConfiguration.human and _unrated(run, episode, newest)
    view = episode_view(EpisodeSummary(episode, task, newest), run.config, explain(session, [episode]).get(episode.id))
    return EpisodePage(
        episode=without_result(view) if unrated else view,
        run_title=run.name or f"{configuration.name} on {row.benchmark}",
        benchmark=row.benchmark,
        version=row.version,
        configuration=configuration,
        instruction=task.instruction,
        repeats=int(run.config.get("repeats", 1)),
        before=before,
        after=after,
        attempts=attempts,
        attempt=attempt,
        steps=step_list(session, attempt.id, step, whole=whole) if attempt else StepList(),
        evaluations=_evaluations(session, attempt.id) if attempt and not unrated else [],
        rescores=[
            rescore_view(reevaluation_row)
            for reevaluation_row in reevaluation.listing(session, episode_id=episode_id)[::-1]
        ],
        can_rescore=not unrated and reevaluation.can_be(session, episode),
        asks_judge=bool(task.requires_judge),
        newer=repository.has_newer_task(session, task),
        human=row.AgentConfiguration.human,
        screen=ScreenSize.model_validate(run.config.get("screen") or {}),
        unrated=unrated,
        first_run=str((episode.human_feedback or {}).get("first_run", "")),
        draft=drafts.draft_of_run(session, run.id) if run.purpose == Purpose.RECORD else None,
        anew=_anew(run, episode) if row.AgentConfiguration.human else "",
        judged=cost_of_attempt(session, attempt.id) if attempt and not unrated else None,
    )


def selected_attempt(session: Session, episode_id: UUID, number: int | None) -> Attempt:
    """The attempt with this number (default: the newest). Raises NotFound."""
    rows = episodes.attempts(session, episode_id)
    for attempt in reversed(rows):
        if number in {None, attempt.number}:
            return attempt
    raise NotFound(f"this episode has no attempt {number or ''}".rstrip(), code="attempt_not_found")


def _evaluations(session: Session, attempt_id: UUID) -> list[EvaluationView]:
    """The current one first, then the newest."""
    rows = sorted(episodes.evaluations(session, [attempt_id]), key=lambda row: row.evaluation.id, reverse=True)
    return [evaluation_view(row) for row in sorted(rows, key=lambda row: not row.evaluation.current)]


def _anew(run: Run, episode: Episode) -> str:
    if not is_lost(episode) or RunState(run.state) not in {RunState.QUEUED, RunState.RUNNING}:
        return ""
    return "yes" if (episode.human_feedback or {}).get("feasible") else "no"


def _unrated(run: Run, episode: Episode, attempt: Attempt | None) -> bool:
    """A person's ended task that is not rated: its result is hidden."""
    if episode.state != EpisodeState.SCORED or run.purpose in {Purpose.PRACTICE, Purpose.RECORD}:
        return False
    return attempt is None or (attempt.human_feedback or {}).get("rating") is None


def _select_attempt(attempts: list[AttemptView], number: int | None) -> AttemptView | None:
    if number is None:
        return attempts[-1] if attempts else None
    for attempt in attempts:
        if attempt.number == number:
            return attempt
    raise NotFound(f"this episode has no attempt {number}", code="attempt_not_found")


def phases_of(attempt: AttemptView) -> list[PhaseSeconds]:
    """Seconds by phase, in order of occurrence."""
    seconds = {**attempt.seconds, "lost": attempt.unreported}
    values = {name: seconds.get(name, 0.0) for name in PHASES}
    total = sum(values.values())
    return [PhaseSeconds(name, PHASES[name], value, value / total) for name, value in values.items()] if total else []


def checks_of(evaluation: EvaluationView) -> list[dict[str, Any]]:
    """Parameters of each metric, in order, without defaults."""
    return [
        {key: value for key, value in call.items() if value and key != "func"}
        for call in evaluation.spec.get("calls", ())
    ]
