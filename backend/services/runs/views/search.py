"""Search over runs, configurations, tasks, episodes and pages."""

from collections.abc import Iterator
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.runs import search as repository
from backend.services.read_model import ReadModel, short

LEAST = 2
"""Characters of a search; a single one is in nearly everything."""
OF_EACH = 6
PAGES = (
    ("Now", "/", "home live screens queue"),
    ("Wall", "/wall", "live screens full screen tiles"),
    ("Runs", "/runs", "list"),
    ("New run", "/runs/new", "start submit action"),
    ("Configurations", "/configurations", "agents models"),
    ("Leaderboards", "/leaderboards", "results ranking"),
    ("Compare runs", "/compare", "difference action"),
    ("Benchmarks", "/benchmarks", "tasks versions"),
    ("Task drafts", "/tasks/drafts", "own tasks write"),
    ("Studies", "/studies", "study conditions factors"),
    ("New study", "/studies/new", "conditions factors matrix action"),
    ("New offline study", "/studies/offline/new", "demonstrations recorded steps action"),
    ("Demonstrations", "/demonstrations", "offline recorded steps"),
    ("Judges", "/judges", "reviews agreement"),
    ("Training data", "/exports", "export trajectories"),
    ("Workers", "/workers", "slots desktops images licences projects drain action"),
    ("Maintenance mode", "/workers#maintenance", "pause stop upgrade action"),
    ("Status", "/status", "health components"),
    ("Budgets", "/budgets", "money tokens limits spent action"),
    ("Retention", "/retention", "delete keep days action"),
    ("Deletions", "/deletions", "deleted removed"),
    ("Notifications", "/notifications", "webhooks e-mail email alerts subscriptions"),
    ("Model endpoints", "/endpoints", "api models health"),
    ("Published suites", "/published", "papers"),
    ("Documentation", "/docs/", "help manual"),
    ("API reference", "/docs/api-reference", "rest openapi"),
)
"""Title, address, further words. Actions are pages with a form."""


class SearchHit(ReadModel):
    """One result: where it leads, and what it is."""

    kind: str = Field(description="`page`, `run`, `configuration`, `task` or `episode`.", examples=["task"])
    title: str = Field(examples=["files/rename-report"])
    detail: str = Field(default="", description="Instruction, configuration or benchmark.")
    url: str = Field(description="Path of its page.", examples=["/runs/018f0000-0000-7000-8000-000000000000"])


class SearchResults(ReadModel):
    """The hits of each kind, at most six of each."""

    query: str
    hits: list[SearchHit]


def search(session: Session, text: str) -> SearchResults:
    """Everything with these words in its name, model or instruction, or with this id.

    Args:
        session: the transaction.
        text: at least two characters; of fewer, the pages only.
    """
    words = text.strip()
    hits = [*_pages(words)]
    if (row_id := _uuid(words)) is not None:
        hits += [SearchHit(kind=kind, title=words, url=f"/{kind}s/{row_id}") for kind in _kinds(session, row_id)]
    elif len(words) >= LEAST:
        hits += _rows(session, words)
    return SearchResults(query=words, hits=hits)


def _kinds(session: Session, row_id: UUID) -> list[str]:
    return repository.by_id(session, row_id)


def _pages(words: str) -> Iterator[SearchHit]:
    parts = words.lower().split()
    for title, address, more in PAGES:
        if all(part in f"{title} {more}".lower() for part in parts):
            yield SearchHit(kind="page", title=title, url=address)


def _rows(session: Session, words: str) -> Iterator[SearchHit]:
    for row in repository.runs(session, words, OF_EACH):
        detail = f"{row.configuration} · {row.benchmark}"
        yield SearchHit(kind="run", title=row.name or row.configuration, detail=detail, url=f"/runs/{row.id}")
    for row in repository.configurations(session, words, OF_EACH):
        yield SearchHit(kind="configuration", title=row.title, detail=row.agent, url=f"/configurations/{row.id}")
    tasks = repository.tasks(session, words, OF_EACH)
    for row in tasks:
        title, detail = f"{row.domain}/{row.name}", f"{row.benchmark} · {short(row.instruction)}"
        yield SearchHit(kind="task", title=title, detail=detail, url=f"/tasks/{row.id}")
    for row in repository.episodes(session, [row.id for row in tasks], OF_EACH):
        state = row.state if row.score is None else f"score {row.score:.2f}"
        detail = f"{row.configuration} · {state}"
        yield SearchHit(kind="episode", title=f"{row.domain}/{row.name}", detail=detail, url=f"/episodes/{row.id}")


def _uuid(text: str) -> UUID | None:
    try:
        return UUID(text) if len(text) == 36 else None  # noqa: PLR2004 - its length with hyphens
    except ValueError:
        return None
