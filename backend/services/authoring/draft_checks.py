"""Automatic checks of a draft before people review it."""

from sqlalchemy.orm import Session

from backend.db.models import TaskDraft
from backend.db.repositories.authoring import drafts as repository
from backend.db.repositories.benchmarks import web_assets
from backend.domain import registry
from backend.domain.benchmarks import external_assets as addresses_of
from backend.domain.drafts.checks import ContentCheck, review_checks
from backend.domain.drafts.content import DraftContent, task_of

MOST_COMPARED = 5000
"""Maximum number of tasks and drafts that a draft is compared with."""


def checks_of(session: Session, draft: TaskDraft, content: DraftContent) -> tuple[ContentCheck, ...]:
    """All checks of one version of a draft.

    It is compared with the newest version of every benchmark and with all drafts, except its own earlier versions.
    """
    registry.load()
    other_drafts = [
        (f"{row.name}: {row.key}", row.instruction)
        for row in repository.instructions(session, most=MOST_COMPARED)
        if (row.name, row.key) != (draft.benchmark, content.key)
    ]
    other_drafts += [
        (f"draft {row.key}", row.instruction)
        for row in repository.other_drafts(
            session, draft, most=MOST_COMPARED - min(len(other_drafts), MOST_COMPARED - 1)
        )
    ]
    assets = web_assets.by_urls(session, draft.project_id, list(addresses_of(task_of(content))))
    stored = [url for url, (_, artifact) in assets.items() if artifact is not None]
    return review_checks(content, other_drafts, stored)
