"""Web files that tasks need: list, download once, add manually."""

import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime
from enum import StrEnum
from fnmatch import fnmatchcase
from pathlib import PurePosixPath
from types import MappingProxyType
from urllib.parse import urlsplit
from uuid import UUID

from pydantic import Field
from sqlalchemy.orm import Session

from backend.db.repositories.benchmarks import tasks as task_repository
from backend.db.repositories.benchmarks import web_assets as repository
from backend.domain.benchmarks import external_assets
from backend.domain.errors import Invalid, NotFound, WebFailed
from backend.domain.model.task import Task
from backend.domain.ports.storage import ArtifactStore
from backend.domain.ports.web import Web, WebReply
from backend.services.artifacts import artifacts
from backend.services.artifacts.storage_quota import refuse_over_quota
from backend.services.benchmarks.benchmarks import get_benchmark, latest_task_set
from backend.services.lru_cache import LruCache
from backend.services.read_model import ReadModel

MOST_BYTES = 512 * 2**20
SECONDS = 1800.0
TRIES = 3
ADDED = "added"
_BYTES = "application/octet-stream"
_PAGES = frozenset({".html", ".htm", ".xhtml", ".mhtml"})
_POINTER = b"version https://git-lfs.github.com/spec/"
_AGAIN = frozenset({408, 425, 429, 500, 502, 503, 504})
"""Status codes for which a retry may help."""
_users: LruCache[UUID, Mapping[str, tuple[str, ...]]] = LruCache(32)


class AssetState(StrEnum):
    """State of a file."""

    STORED = "stored"
    MISSING = "missing"
    DEAD = "dead"


class DeadLink(WebFailed):
    """A server responded, but not with the file: retrying does not help."""


class AssetView(ReadModel):
    """A file of the web that tasks need."""

    url: str
    state: AssetState
    tasks: list[str] = Field(description="Keys of the tasks that need it.")
    sha256: str | None = None
    size: int | None = Field(default=None, description="Bytes.")
    media_type: str = ""
    source: str = Field(default="", description="Where the bytes came from, after redirects; `added` by a person.")
    problem: str = Field(default="", description="What the last check found wrong.")
    checked_at: datetime | None = None


@dataclass(frozen=True)
class FetchedFile:
    """A downloaded file, whose bytes are in the store already."""

    sha256: str
    size: int
    media_type: str
    source: str


def list_assets(
    session: Session, name: str, *, tasks: Sequence[str] = (), urls: Sequence[str] | None = None
) -> list[AssetView]:
    """Files that a benchmark's newest version needs, in the order of its tasks.

    Args:
        session: the transaction.
        name: the benchmark.
        tasks: globs over `domain/name`; only files of those tasks. None = all.
        urls: only these.

    Raises:
        NotFound: the benchmark does not exist, or a glob matches no task that needs a file.
    """
    benchmark = get_benchmark(session, name)
    users = users_of(session, latest_task_set(session, name).id)
    for glob in tasks:
        if not any(fnmatchcase(key, glob) for keys in users.values() for key in keys):
            raise NotFound(
                f"{glob!r} matches no task of {name!r} that needs a file from the web", code="asset_not_found"
            )
    matches = [
        url
        for url, keys in users.items()
        if (urls is None or url in urls)
        and (not tasks or any(fnmatchcase(key, glob) for key in keys for glob in tasks))
    ]
    rows = repository.by_urls(session, benchmark.project_id, matches)
    return [_asset(url, users[url], rows.get(url)) for url in matches]


def _asset(url: str, tasks: tuple[str, ...], asset_row: repository.AssetRow | None) -> AssetView:
    if asset_row is None:
        return AssetView(url=url, tasks=list(tasks), state=AssetState.MISSING)
    row, stored = asset_row
    if stored is None:
        return AssetView(
            url=url, tasks=list(tasks), state=AssetState.DEAD, problem=row.problem, checked_at=row.checked_at
        )
    return AssetView(
        url=url,
        tasks=list(tasks),
        state=AssetState.STORED,
        sha256=stored.sha256,
        size=stored.size,
        media_type=stored.media_type,
        source=row.source,
        problem=row.problem,
        checked_at=row.checked_at,
    )


def users_of(session: Session, task_set_id: UUID) -> Mapping[str, tuple[str, ...]]:
    """Address -> keys of tasks that need it, in import order. A task set never changes."""
    return _users.get_or_make(task_set_id, lambda: _read_users(session, task_set_id))


def _read_users(session: Session, task_set_id: UUID) -> Mapping[str, tuple[str, ...]]:
    by_url: dict[str, list[str]] = {}
    for row in task_repository.all_of(session, task_set_id):
        for url in external_assets(Task.model_validate(row.spec)):
            by_url.setdefault(url, []).append(row.key)
    return MappingProxyType({url: tuple(keys) for url, keys in by_url.items()})


def needed_asset(session: Session, name: str, url: str) -> AssetView:
    """One of a benchmark's files. Raises NotFound: other addresses are never downloaded."""
    assets = list_assets(session, name, urls=[url])
    if not assets:
        raise NotFound(
            f"no task of {name!r} needs {url[:300]!r}",
            code="asset_not_found",
            hint=f"`deskarena benchmark asset list {name}`.",
        )
    return assets[0]


def refuse_more(session: Session, name: str) -> None:
    """Refuses further files in the project of a benchmark that is over its disk quota. Raises Conflict."""
    refuse_over_quota(session, get_benchmark(session, name).project_id)


def fetch(url: str, web: Web, store: ArtifactStore) -> FetchedFile:
    """Downloads and stores a file. Takes as long as the network does: hold no session meanwhile.

    Raises:
        DeadLink: the server does not have the file, or returns something else.
        Invalid: The address is not allowed.
        WebFailed: no response; a retry may help.
        Unavailable: There is no room for it.
    """
    reply = _answer(url, web)
    if not reply.body:
        raise DeadLink(f"{url} returns an empty file", code="asset_wrong_type")
    wrong = _what_else(url, reply)
    if wrong:
        raise DeadLink(f"{url} gives {wrong} instead of the file", code="asset_wrong_type")
    media_type = _media_type(reply)
    return FetchedFile(store.put(reply.body, media_type), len(reply.body), media_type, reply.url)


def _answer(url: str, web: Web) -> WebReply:
    """The first useful response."""
    for retries in reversed(range(TRIES)):
        try:
            reply = web.get(url, max_bytes=MOST_BYTES, timeout=SECONDS)
        except WebFailed:
            if not retries:
                raise
            continue
        if reply.status not in _AGAIN:
            break
    if reply.status in _AGAIN:
        raise WebFailed(f"{url} answers with status {reply.status}", code="web_error_status", hint="Try again later.")
    if reply.status != 200:  # noqa: PLR2004 - HTTP's word for a whole file
        raise DeadLink(f"{url} answers with status {reply.status}", code="asset_gone")
    return reply


def _what_else(url: str, reply: WebReply) -> str:
    """Kind of the content that was returned instead of the file, if recognisable; else empty."""
    if reply.body.startswith(_POINTER):
        return "a pointer of Git LFS"
    suffix = PurePosixPath(urlsplit(url).path).suffix.lower()
    looks_like_page = re.match(rb"\s*<(!doctype\s+html|html)\b", reply.body[:500], re.IGNORECASE) is not None
    if suffix not in _PAGES and looks_like_page and _media_type(reply) in {"text/html", "application/xhtml+xml"}:
        return "a web page (an error message, or a question)"
    return ""


def _media_type(reply: WebReply) -> str:
    """The server's media type, for display only: nothing is rendered or run because of it."""
    media_type = reply.headers.get("content-type", "").partition(";")[0].strip().lower()
    return media_type if re.fullmatch(r"[a-z0-9.+-]{1,60}/[a-z0-9.+-]{1,100}", media_type) else _BYTES


def record(session: Session, name: str, url: str, fetched: FetchedFile) -> None:
    """Records a download. Safe to call twice."""
    project_id = get_benchmark(session, name).project_id
    artifacts.register(session, fetched.sha256, fetched.size, fetched.media_type)
    repository.put(session, project_id, url, sha256=fetched.sha256, source=fetched.source)


def record_dead(session: Session, name: str, url: str, problem: str) -> None:
    """Records a dead link. Existing bytes are kept."""
    repository.put_problem(session, get_benchmark(session, name).project_id, url, problem[:1000])


def add(session: Session, name: str, url: str, data: bytes, store: ArtifactStore) -> None:
    """Adds a file that somebody obtained elsewhere.

    Raises:
        NotFound: No task of the benchmark needs that address.
        Invalid: The file is empty.
        Conflict: the project is over its disk quota.
    """
    needed_asset(session, name, url)
    refuse_more(session, name)
    if not data:
        raise Invalid("the file is empty", code="invalid_file", path="file")
    record(session, name, url, FetchedFile(store.put(data, _BYTES), len(data), _BYTES, ADDED))
