"""Reading never writes: no GET route sends a statement that writes or locks, even with stale roll-ups."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from html.parser import HTMLParser
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, func, update

from backend.config import Settings
from backend.db import models
from backend.db.session import SessionFactory
from backend.domain.ports.storage import ArtifactStore
from backend.web import api_routes, page_routes
from backend.web.app import create_app
from backend.web.behind_proxy import first_segments
from backend.web.dependencies import AppContext
from tests.factories.everything import Everything, make_everything
from tests.factories.records import emptied
from tests.factories.scene_copies import copied_scene
from tests.integration.web.conftest import client_of, client_to

WRITES = re.compile(
    r"\b(insert\s+into|update\s+\w+\s+set|delete\s+from|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share)\b",
    re.IGNORECASE,
)
UNAVAILABLE = {
    "/api/v1/agent/observation": 503,
    "/api/v1/agent/observation/frame": 409,
    "/api/v1/attempts/{attempt_id}/video": 404,
    "/api/v1/benchmarks/{name}/analyses": 422,
    "/benchmarks/{name}/analyses": 422,
    "/benchmarks/{name}/analyses/{table}.csv": 404,
    "/charts/{version}/plotly.min.js": 404,
    "/components": 404,
    "/embed/{token}": 403,
    "/account": 404,
    "/people": 404,
    "/api/v1/account/sessions": 403,
    "/api/v1/tokens": 403,
    "/api/v1/trust-rules": 403,
    "/login/oidc": 404,
    "/login/oidc/callback": 404,
    "/join/{token}": 410,
}
"""Routes that read and then refuse: no broker, WindowsWorld, video, frame or account; no such version of plotly."""


def get_routes() -> list[str]:
    routers = (*api_routes.ROUTERS, *page_routes.ROUTERS)
    return sorted(route.path for router in routers for route in router.routes if "GET" in getattr(route, "methods", ()))


@dataclass
class StaleInstallation:
    """An installation with something of everything, its roll-ups out of date; `writes` are statements since then."""

    client: TestClient
    everything: Everything
    sources: tuple[SessionFactory, ArtifactStore]
    writes: list[str] = field(default_factory=list)

    @property
    def params(self) -> dict[str, Any]:
        """A value for each parameter of a route's path."""
        return self.everything.params

    def get(self, route: str) -> int:
        """The answer's status."""
        return int(self.answer(route).status_code)

    def answer(self, route: str) -> Any:
        """The answer to a route, with values for its parameters."""
        headers = {"Accept": "text/html"} if not route.startswith("/api/") else {}
        if route.startswith("/api/v1/agent"):
            headers["Authorization"] = f"Bearer {self.everything.token}"
        return self.client.get(self.everything.address(route), headers=headers)


@pytest.fixture(scope="module")
def reader(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaleInstallation]:
    with copied_scene(postgres_server) as scene:
        made = scene.world
        client = client_of(made, tmp_path_factory.mktemp("data"))
        everything = make_everything(scene, client, tmp_path_factory.mktemp("set"))
        reader = StaleInstallation(client, everything, (made.factory, made.store))

        def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
            if WRITES.search(statement):
                reader.writes.append(statement)

        event.listen(made.factory.kw["bind"], "before_cursor_execute", note)
        yield reader


@pytest.mark.parametrize("route", get_routes())
def test_a_get_route_only_reads(reader: StaleInstallation, route: str) -> None:
    reader.writes.clear()
    status = reader.get(route)
    assert reader.writes == []
    assert status == UNAVAILABLE.get(route, status if status < 400 else 200)


RAW = re.compile(
    r"\b(None|True|False|nan|inf)\b|\[Errno|\{\}|<[\w.]+ object at|datetime\.|UUID\(|\b\d{2,}\.0+ (s|min|h|steps)\b"
    r"|(?<![\w.,:/#@-])\d{5,}(?![\w.,:/-])|(?<![\d.])(?!\d{4}\.\d{5}\b)\d+\.\d{5,}"
)
"""Values as Python writes them, numbers without separators or with digits that say nothing."""
NOT_SCANNED = ("/account", "/users", "/audit", "/join")
"""Pages of accounts: not scanned yet."""
MARKUP = "<b>marked'\"onclick=alert(1) "
VERBATIM = {"pre", "code", "script", "style", "textarea", "option", "title"}
"""Elements whose text is somebody's own, or no text of the page."""


class PageParser(HTMLParser):
    """The visible content of a page: `paths` are attributes that begin with a slash, `text` is what one reads."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.paths: list[tuple[str, str]] = []
        self._texts: list[str] = []
        self._verbatim = 0
        self.feed(page)

    @property
    def text(self) -> str:
        return re.sub(r"\s+", " ", " ".join(self._texts))

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.paths += [(name, value) for name, value in attrs if value and value.startswith("/")]
        self._verbatim += tag in VERBATIM

    def handle_endtag(self, tag: str) -> None:
        self._verbatim -= tag in VERBATIM

    def handle_data(self, data: str) -> None:
        if not self._verbatim:
            self._texts.append(data)


def store_markup(reader: StaleInstallation) -> None:
    """Has what people, programs and guests name carry markup."""
    columns = (
        models.AgentConfiguration.default_name,
        models.AgentConfiguration.own_name,
        models.Evidence.blob_name,
        models.Evidence.note,
        models.Run.name,
        models.SavedView.name,
        models.Study.name,
        models.TaskDraft.name,
        models.Worker.name,
    )
    files = f"/api/v1/drafts/{reader.params['draft_id']}/files"
    reader.client.post(files, data={"name": "<b>marked.txt"}, files={"file": ("x", b"<script>alert(1)</script>")})
    with reader.sources[0].begin() as session:
        for column in columns:
            marked = func.concat(MARKUP, column)
            session.execute(update(column.class_).values({column.key: marked}))


@pytest.fixture(scope="module")
def pages(reader: StaleInstallation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The HTML of every page, by its route, of a service below a path of another site."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("below"), root_path="/tools/deskarena"))
    app.state.edge = AppContext(app.state.edge.settings, *reader.sources, "", app.state.edge.sub_path)
    store_markup(reader)
    below = replace(reader, client=client_to(app))
    answers = {route: below.answer(route) for route in get_routes() if not route.startswith("/api/")}
    texts = {
        route: answer.text
        for route, answer in answers.items()
        if answer.headers.get("content-type", "").startswith("text/html")
    }
    assert len(texts) > 40
    return texts


def test_every_address_of_every_page_lies_below_the_root_path(pages: dict[str, str]) -> None:
    own = first_segments(get_routes()) | {"static", "docs"}
    outside: list[str] = []
    for route, text in pages.items():
        for name, value in PageParser(text).paths:
            first = value.split("/")[1].partition("?")[0]
            if first == "tools" or name == "data-refresh-stream":  # Sockets get the root where they are opened.
                continue
            if name in {"href", "src", "action", "formaction"} or (name.startswith("data-") and first in own):
                outside.append(f"{route}: {name}={value}")
    assert outside == []


def test_stored_markup_is_escaped_on_every_page(pages: dict[str, str]) -> None:
    """Names of agents, runs, studies, views, drafts and their files, evidence; the scene has model replies."""
    assert {route for route, page in pages.items() if "<b>marked" in page or "<script>document" in page} == set()
    assert len([page for page in pages.values() if "&lt;b&gt;marked" in page]) > 10


def test_no_page_shows_raw_values(pages: dict[str, str]) -> None:
    raw = {
        f"{route}: …{text[max(0, hit.start() - 40) : hit.end() + 40]}…"
        for route, page in pages.items()
        if not route.startswith(NOT_SCANNED)
        for text in [PageParser(page).text]
        for hit in RAW.finditer(text)
    }
    assert raw == set()


def test_empty_installation_is_read_without_writes(shared_database: str, tmp_path: Path) -> None:
    with emptied(shared_database) as made:
        client, writes = client_of(made, tmp_path), list[str]()

        def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
            if WRITES.search(statement):
                writes.append(statement)

        event.listen(made.factory.kw["bind"], "before_cursor_execute", note)
        for route in ("/", "/runs", "/judges", "/tasks/drafts", "/exports", "/api/v1/runs", "/api/v1/drafts"):
            assert client.get(route, headers={"Accept": "text/html"}).status_code == 200, route
        assert writes == []
