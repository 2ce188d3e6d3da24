"""REST views of drafts."""

from collections.abc import Sequence
from uuid import UUID

from sqlalchemy.orm import Session

from backend.db.models import TaskDraft, TaskDraftRequest
from backend.db.repositories.authoring import drafts as repository
from backend.domain.drafts.content import missing
from backend.domain.drafts.forms import PluginForm
from backend.domain.ports.storage import ArtifactStore
from backend.services.authoring import draft_checks, draft_recordings, draft_reviews, drafts
from backend.services.authoring.draft_recordings import RecordingView as Recording
from backend.services.authoring.draft_trials import DraftTrialResult, latest_trial
from backend.web.authoring import schemas as own

FIELDS = (
    "id", "benchmark", "key", "instruction", "state", "rejection_reason", "rejection_comment", "version",
    "content_hash",
    "approvals", "author_kind", "model", "prompt_hash", "persona", "created_at", "updated_at",
)  # fmt: skip


def draft(row: TaskDraft, author: str) -> own.DraftView:
    columns = {name: getattr(row, name) for name in FIELDS}
    return own.DraftView.model_validate({**columns, "author": author, "published": row.published_task_set_id})


def rows(session: Session, drafts: Sequence[TaskDraft]) -> list[own.DraftView]:
    """Several rows with their authors."""
    names = repository.names(session, {row.author_id for row in drafts})
    return [draft(row, names[row.author_id]) for row in drafts]


def detail(session: Session, row: TaskDraft, store: ArtifactStore) -> own.DraftDetail:
    """A draft with everything that hangs on it."""
    content = drafts.content_of(session, row)
    checks = draft_checks.checks_of(session, row, content)
    return own.DraftDetail(
        **rows(session, [row])[0].model_dump(),
        content=content.model_dump(mode="json"),
        missing=missing(content),
        checks=[own.DraftCheck(name=c.name, title=c.title, findings=list(c.found), blocking=c.stops) for c in checks],
        trial=_trial_view(latest_trial(session, row)),
        noop_justification=row.noop_justification,
        reviews=[
            own.DraftReview.model_validate(
                {**_own(entry.review, "version verdict rejection_reason comment created_at"), "by": entry.by}
            )
            for entry in draft_reviews.review_notes(session, row)
        ],
        versions=[
            own.DraftVersion.model_validate({**_own(one.version, "number note content_hash created_at"), "by": one.by})
            for one in drafts.history(session, row)
        ],
        recordings=[recording(view) for view in draft_recordings.list_recordings(session, row, store)],
    )


def recording(view: Recording) -> own.DraftRecording:
    return own.DraftRecording.model_validate(
        {
            **_own(view.row, "id kind used_in_version"),
            "run": view.run.id,
            "episode": view.episode.id,
            "ended": view.over,
            "steps": [dict(step) for step in view.steps],
            "descriptions": list(view.words),
            "problems": list(view.problems),
        }
    )


def request(row: TaskDraftRequest) -> own.DraftRequestView:
    """What became of a request to a model."""
    columns = _own(row, "id persona state message requested_count created_count usage created_at ended_at")
    parameters = {
        "endpoint": row.model_request["endpoint"],
        "model": row.model_request["model"],
    }
    return own.DraftRequestView.model_validate({**columns, **parameters})


def form(plugin_form: PluginForm) -> own.PluginView:
    return own.PluginView.model_validate(
        {
            "kind": plugin_form.kind.name.lower(),
            "name": plugin_form.name,
            "dialect": plugin_form.dialect,
            "about": plugin_form.about,
            "parameters": plugin_form.schema,
            "expects": plugin_form.expects,
        }
    )


def _trial_view(trial: DraftTrialResult | None) -> own.DraftTrialView | None:
    if trial is None:
        return None
    runs: dict[str, UUID] = {agent: run.id for agent, run in trial.runs.items()}
    return own.DraftTrialView(
        version=trial.row.version,
        current=trial.current,
        done=trial.done,
        sound=trial.sound,
        scores=dict(trial.scores),
        runs=runs,
        wrong=list(trial.wrong),
        unknown=trial.unknown,
        created_at=trial.row.created_at,
    )


def _own(row: object, names: str) -> dict[str, object]:
    return {name: getattr(row, name) for name in names.split()}
