"""Reading never writes: no GET route sends a statement that writes or locks, even with stale roll-ups."""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import UTC, datetime
from html.parser import HTMLParser
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import event, select, update
from uuid_utils.compat import uuid7

from backend.config import Settings
from backend.db.models import Artifact, Deletion, Episode, OfflineAnswer, Run, Submission, Task
from backend.db.models.enums import DeletionKind
from backend.db.session import SessionFactory
from backend.domain.ports.storage import ArtifactStore
from backend.services.agents import agent_tokens
from backend.web import api_routes, page_routes
from backend.web.app import create_app
from backend.web.behind_proxy import first_segments
from backend.web.dependencies import AppContext
from tests import databases
from tests.factories import demonstrations
from tests.factories.creative import creative_benchmark, picture
from tests.factories.drafts import make_content
from tests.factories.records import World, emptied, world
from tests.factories.reviews import Judged, JudgedTask
from tests.factories.scene import PageScene, abilities, make_scene
from tests.factories.submissions import hand_in
from tests.fakes.models import FakeModels
from tests.integration.web.conftest import client_of, client_to
from worker.background.offline_evaluator import OfflineEvaluator
from worker.base.database import Database

WRITES = re.compile(
    r"\b(insert\s+into|update\s+\w+\s+set|delete\s+from|for\s+(no\s+key\s+)?update|for\s+(key\s+)?share)\b",
    re.IGNORECASE,
)
QUERIES = {
    "/runs/new/estimate": "?benchmark=starter&agent=noop",
    "/api/v1/judges/{judge_id}/review": "?by=newcomer",
    "/judges/{judge_id}/review": "?as=newcomer",
    "/api/v1/benchmarks/{name}/pairs/next": "?person=newcomer",
    "/compare/pairs": "?benchmark=creative&person=newcomer",
    "/api/v1/compare": "?run={run_id}&run={human}",
    "/api/v1/compare/episodes": "?episode={episode_id}&episode={lost}",
    "/compare": "?run={run_id}&run={human}",
    "/compare/episodes": "?episode={episode_id}&episode={lost}",
    "/api/v1/failures": "?run={run_id}&run={human}",
    "/compare/failures": "?run={run_id}&run={human}",
    "/compare/failures/{table}.csv": "?run={run_id}&run={human}",
    "/compare/prompts": "?first={sha256}&second={sha256}",
    "/compare/tasks.csv": "?run={run_id}&run={human}",
    "/api/v1/runs/{run_id}/cut": "?label=domain",
    "/api/v1/runs/{run_id}/pair-cut": "?label=domain&by=difficulty",
    "/api/v1/leaderboards/{benchmark}/pair-cut": "?label=domain&by=difficulty",
    "/api/v1/runs/{run_id}/regression": "?baseline={human}",
    "/api/v1/benchmark-diff": "?old=starter&new=starter",
    "/benchmarks/{name}/diff": "?old=starter@1&new=starter@1",
    "/api/v1/trajectories/export": "?form=chat",
    "/api/v1/agent/observation": "?wait=0",
}
TABLES = {"judges": "answers", "studies": "cells", "failures": "shares", "process": "curve", "analyses": "gaps"}
UNAVAILABLE = {
    "/api/v1/agent/observation": 503,
    "/api/v1/agent/observation/frame": 409,
    "/api/v1/attempts/{attempt_id}/video": 404,
    "/api/v1/benchmarks/{name}/analyses": 422,
    "/benchmarks/{name}/analyses": 422,
    "/benchmarks/{name}/analyses/{table}.csv": 422,
    "/charts/{version}/plotly.min.js": 404,
    "/components": 404,
    "/embed/{token}": 403,
    "/account": 404,
    "/people": 404,
    "/api/v1/account/sessions": 403,
    "/api/v1/tokens": 403,
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
    params: dict[str, Any]
    human: UUID
    token: str
    sources: tuple[SessionFactory, ArtifactStore]
    writes: list[str] = field(default_factory=list)

    def get(self, route: str) -> int:
        """The answer's status."""
        return int(self.answer(route).status_code)

    def answer(self, route: str) -> Any:
        """The answer to a route, with values for its parameters."""
        table = next((name for room, name in TABLES.items() if f"/{room}/" in route), "")
        run = self.human if route.endswith("/human") else self.params["run_id"]
        values = {**self.params, "run_id": run, "table": table, "chart": "steps" if "studies" in route else "curve"}
        if "/published/" in route:
            values["name"] = "osworld"
        if "/versions/" in route:
            values["number"] = 1
        if route.endswith("/thumbnail"):
            values["sha256"] = values["picture"]
        if "/offline" in route:
            values |= {"study_id": values["offline_study_id"], "table": "answers"}
        if "/demonstrations/" in route:
            values["name"] = "buttons"
        headers = {"Accept": "text/html"} if not route.startswith("/api/") else {}
        if route.startswith("/api/v1/agent"):
            headers["Authorization"] = f"Bearer {self.token}"
        address = (route + QUERIES.get(route, "")).format(**values, human=self.human)
        return self.client.get(address, headers=headers)


def add_more(made: World) -> str:
    """Works, judges and a remote episode, which the scene has not; returns the token of the last."""
    made.benchmark(creative_benchmark(), "creative")
    able = abilities()
    able["agents"]["remote"] = able["agents"]["noop"]
    worker = made.worker(name="creative", slots=2, node="creative", capabilities=able)
    for agent in ("noop", "oracle"):
        made.submit(agent, benchmark="creative")
        hand_in(made, made.must_claim(worker), picture((1, 2, 3)))
    remote = made.submit("remote", benchmark="starter")
    with made.work() as session:
        session.execute(update(Run).values(rollup_stale=True))
        query = select(Episode.id).where(Episode.run_id == remote.id).limit(1)
        return agent_tokens.issue(session, session.scalars(query).one())


def params_of(made: World, scene: PageScene, judge: Any) -> dict[str, Any]:
    """A value for each parameter of a route's path."""
    with made.work() as session:
        stored = {
            "sha256": session.scalars(select(Artifact.sha256).limit(1)).one(),
            "picture": session.scalars(
                select(Artifact.sha256).where(Artifact.media_type == "image/jpeg").order_by(Artifact.size.desc())
            ).first(),
            "task_id": session.scalars(select(Task.id).limit(1)).one(),
            "configuration_id": session.get_one(Run, scene.finished).agent_configuration_id,
            "work_id": session.scalars(select(Submission.id).limit(1)).one(),
        }
        stored["submission_id"] = stored["work_id"]
    ids = {
        "run_id": scene.finished,
        "episode_id": scene.solved,
        "lost": scene.lost,
        "attempt_id": scene.attempts[0],
        "judge_id": judge,
    }
    names = {"name": "starter", "benchmark": "starter", "kind": "setup", "dimension": "domain"}
    return stored | ids | names | {"study_id": scene.study, "number": 0, "version": "1"}


def add_offline_study(made: World, client: TestClient, folder: Path) -> dict[str, Any]:
    """A set of demonstrations, and a study of it with its answers."""
    zipped = ("set.zip", demonstrations.zipped(demonstrations.own(folder)), "application/zip")
    form = {"name": "buttons", "form": "deskarena", "source": "ours"}
    client.post("/api/v1/demonstrations", data=form, files={"file": zipped})
    body = {"demonstrations": "buttons", "base": {"agent": "random", "seed": 1}}
    study = client.post("/api/v1/offline-studies", json=body).json()["id"]
    worker = OfflineEvaluator(Database(made.factory), made.store, lambda _: FakeModels(), every=0.1)
    while worker.one():
        pass
    with made.work() as session:
        return {"offline_study_id": study, "answer_id": session.scalars(select(OfflineAnswer.id).limit(1)).one()}


def share_board(client: TestClient) -> dict[str, str]:
    """A saved view and a public link."""
    view = client.post("/api/v1/saved-views", json={"benchmark": "starter", "name": "all"}).json()
    link = client.post("/api/v1/public-links", json={"benchmark": "starter"}).json()
    return {"view_id": view["id"], "link_id": link["id"], "token": link["token"]}


def add_deletion(made: World) -> UUID:
    """One that is finished."""
    with made.work() as session:
        project, _ = made.who(session)
        row = Deletion(kind=DeletionKind.RUN, target_id=uuid7(), name="old", project_id=project.id, requested_by="ada")
        row.finished_at = datetime.now(UTC)
        session.add(row)
        session.flush()
        return row.id


@pytest.fixture(scope="module")
def reader(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[StaleInstallation]:
    with databases.copied(postgres_server) as url, world(url) as made:
        scene = make_scene(made)
        judged = Judged(made, [JudgedTask(opened=True, final=True, level="L1")])
        client, token = client_of(made, tmp_path_factory.mktemp("data")), add_more(made)
        content = make_content().model_dump(mode="json")
        draft = client.post("/api/v1/drafts", json={"content": content, "by": "ada"}).json()["id"]
        more = {**share_board(client), **add_offline_study(made, client, tmp_path_factory.mktemp("set"))}
        params = {**params_of(made, scene, judged.judge), **more, "draft_id": draft, "deletion_id": add_deletion(made)}
        reader = StaleInstallation(client, params, scene.human, token, (made.factory, made.store))

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
VERBATIM = {"pre", "code", "script", "style", "textarea", "option", "title"}
"""Elements whose text is somebody's own, or no text of the page."""


class PageParser(HTMLParser):
    """What a page shows: `paths` are attributes that begin with a slash, `text` is what one reads."""

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


@pytest.fixture(scope="module")
def pages(reader: StaleInstallation, tmp_path_factory: pytest.TempPathFactory) -> dict[str, str]:
    """The HTML of every page, by its route, of a service below a path of another site."""
    app = create_app(Settings(data_dir=tmp_path_factory.mktemp("below"), root_path="/tools/deskarena"))
    app.state.edge = AppContext(app.state.edge.settings, *reader.sources, "", app.state.edge.sub_path)
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


def test_no_page_shows_raw_values(pages: dict[str, str]) -> None:
    raw = {
        f"{route}: …{text[max(0, hit.start() - 40) : hit.end() + 40]}…"
        for route, page in pages.items()
        if not route.startswith(NOT_SCANNED)
        for text in [PageParser(page).text]
        for hit in RAW.finditer(text)
    }
    assert raw == set()


def test_an_empty_installation_is_read_without_writing(shared_database: str, tmp_path: Path) -> None:
    with emptied(shared_database) as made:
        client, writes = client_of(made, tmp_path), list[str]()

        def note(_conn: Any, _cursor: Any, statement: str, *_: Any) -> None:
            if WRITES.search(statement):
                writes.append(statement)

        event.listen(made.factory.kw["bind"], "before_cursor_execute", note)
        for route in ("/", "/runs", "/judges", "/tasks/drafts", "/exports", "/api/v1/runs", "/api/v1/drafts"):
            assert client.get(route, headers={"Accept": "text/html"}).status_code == 200, route
        assert writes == []
