"""Recordings: what a person does on a live desktop becomes a draft's set-up or solution.

A recording is an ordinary run of the agent `human` with the draft as its task: same page, channel and steps. Its
purpose excludes it from results and ratings.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import Actor, Episode, Project, Run, TaskDraft, TaskDraftRecording
from backend.db.models.enums import Purpose, RecordingKind
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.people import human_agent
from backend.db.repositories.runs import episode_view
from backend.domain import registry
from backend.domain.benchmarks import lint
from backend.domain.drafts.content import DraftContent, assets_of, task_of
from backend.domain.drafts.recording import RecordedSolution, RecordingStep, to_solution
from backend.domain.errors import Conflict, Invalid, NotFound
from backend.domain.model.episode import EpisodeState
from backend.domain.model.run import Budget, ScreenSize
from backend.domain.model.task import EvaluatorSpec, MetricCall
from backend.domain.model.trajectory import Action, Window
from backend.domain.ports.storage import ArtifactStore
from backend.domain.solutions.screen import describe
from backend.domain.solutions.steps import read_solution
from backend.services.authoring.draft_trials import HIDDEN, scratch
from backend.services.authoring.drafts import change, content_of, get_locked
from backend.services.capacity.run_request import RunRequest
from backend.services.people import human_agent as human
from backend.services.runs.runs import submit_run

AGENT = "human"
OBSERVATION = "screenshot_a11y_tree"
MOST_STEPS = 1000
SCREEN = ScreenSize(width=1280, height=800)
"""A screen that fits a window; widgets are found again on any."""


@dataclass(frozen=True)
class RecordingView:
    """One recording.

    Attributes:
        episode: where the person acts, and can review it later.
        over: whether it has ended and can be used.
        words: its steps as text; empty until it has ended.
        problems: what was left out.
    """

    row: TaskDraftRecording
    run: Run
    episode: Episode
    over: bool
    steps: Sequence[Mapping[str, Any]] = ()
    words: Sequence[str] = ()
    problems: Sequence[str] = ()


def begin(  # noqa: PLR0913 - what a run needs
    session: Session,
    draft_id: UUID,
    kind: RecordingKind,
    *,
    project: Project,
    actor: Actor,
    store: ArtifactStore,
    provider: str = "local",
) -> Episode:
    """Creates a desktop for the person with the draft's set-up; a solution starts after the whole set-up.

    Raises:
        NotFound: There is no such draft.
        Invalid: The set-up cannot be run.
        Unavailable: no worker offers such desktops, or there is no broker.
    """
    draft = get_locked(session, draft_id)
    content = content_of(session, draft)
    task_set = scratch(session, content, _task(content), store)
    request = RunRequest(
        benchmark=HIDDEN,
        agent=AGENT,
        params={"person": actor.name, "look_again": True},
        provider=provider,
        observation=OBSERVATION,
        screen=SCREEN,
        budget=Budget(max_steps=MOST_STEPS),
        purpose=Purpose.RECORD,
        name=f"record the {_word(kind)} of {content.key}",
    )
    run = submit_run(session, request, project=project, actor=actor, task_set=task_set)
    row = TaskDraftRecording(draft_id=draft.id, kind=kind.value, version=draft.version, run_id=run.id)
    session.add(row)
    session.flush()  # Its episode is read next.
    episode: Episode = human_agent.newest(session, run.id)[0].Episode
    if episode.state == EpisodeState.NOT_RUNNABLE:
        raise Conflict(f"the draft cannot run here: {episode.reason}", code="draft_not_runnable")
    return human.begin(session, run.id, episode.id, feasible=content.feasible)


def list_recordings(session: Session, draft: TaskDraft, store: ArtifactStore) -> list[RecordingView]:
    """A draft's recordings, newest first, with the steps of usable ones."""
    return [_view(session, row.TaskDraftRecording, row.Run, store) for row in repository.recordings(session, draft.id)]


def use(session: Session, draft_id: UUID, recording_id: UUID, *, by: Actor, store: ArtifactStore) -> TaskDraft:
    """Uses a recording as the solution, or appends it to the set-up, as a new version of the draft.

    Raises:
        NotFound: The draft has no such recording.
        Conflict: it has not ended, or was used before.
        Invalid: nothing was done in it, or its actions cannot be read.
    """
    row = repository.recording(session, recording_id)
    if row is None or row.draft_id != draft_id:
        raise NotFound(f"the draft has no recording {recording_id}", code="recording_not_found")
    view = _view(session, row, session.get_one(Run, row.run_id), store)
    if not view.over or row.used_in_version is not None:
        raise Conflict(
            "the recording was already used" if row.used_in_version is not None else "the recording has not ended",
            code="recording_not_usable",
        )
    if not view.steps:
        raise Invalid("the recording has no action to replay", code="recording_empty", path="recording")
    content = content_of(session, get_locked(session, draft_id))
    draft = change(session, draft_id, _changes(content, row.kind, view.steps), by=by, note=f"recorded {row.kind}")
    row.used_in_version = draft.version
    return draft


def _changes(content: DraftContent, kind: str, steps: Sequence[Mapping[str, Any]]) -> dict[str, Any]:
    if kind == RecordingKind.ORACLE:
        return {"oracle": list(steps)}
    perform = {"type": "perform", "parameters": {"steps": list(steps)}}
    return {"setup": [*content.model_dump(mode="json")["setup"], perform]}


def _task(content: DraftContent) -> Any:
    """The draft as the task of a recording: with its checks only if they can be evaluated already."""
    registry.load()
    task = task_of(content)
    wrong = lint(task, assets_of(content))
    if [line for line in wrong if line.startswith("config")]:
        raise Invalid(
            wrong[0],
            code="invalid_draft",
            path="setup",
            hint="The set-up must work before you record.",
        )
    if not wrong:
        return task
    rule = EvaluatorSpec(calls=(MetricCall(func="infeasible"),))
    return task.model_copy(update={"evaluator": rule, "oracle": None})


def _view(session: Session, row: TaskDraftRecording, run: Run, store: ArtifactStore) -> RecordingView:
    newest = human_agent.newest(session, run.id)[0]
    episode: Episode = newest.Episode
    over = episode.state == EpisodeState.SCORED and newest.Attempt is not None
    if not over or row.used_in_version is not None:
        return RecordingView(row, run, episode, over)
    try:
        recording = to_solution(
            [_recording_step(step, store) for step in episode_view.steps(session, newest.Attempt.id)]
        )
    except Invalid as error:
        return RecordingView(row, run, episode, over, problems=[error.message])
    return RecordingView(row, run, episode, over, recording.steps, _in_words(recording), recording.problems)


def _in_words(recording: RecordedSolution) -> list[str]:
    return [describe(step) for step in read_solution(recording.steps)]


def _recording_step(step: Any, store: ArtifactStore) -> RecordingStep:
    """A stored step as what was seen and done."""
    tree = store.get(step.a11y_sha256).decode(errors="replace") if step.a11y_sha256 else "<desktop-frame/>"
    windows = [Window.model_validate(window) for window in step.windows]
    return RecordingStep(tree, windows, [Action.model_validate(action) for action in step.actions])


def _word(kind: RecordingKind) -> str:
    return "set-up" if kind is RecordingKind.SETUP else "solution"
