"""Nobody sees another project's rows: every route that reads, asked by somebody of another project."""

import re
from collections.abc import Iterable
from dataclasses import replace
from pathlib import Path
from pprint import pformat
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select, update

from backend.config import Settings
from backend.db import models
from backend.db.models.enums import Role
from backend.db.project_scope import BELOW, OWNED, current_project, visible_project
from backend.services.accounts.principal import LOCAL, acting_as
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.web.accounts.permissions import need_of
from backend.web.app import create_app
from backend.web.security_middleware import is_open
from tests.factories.accounts import Team
from tests.factories.everything import QUERIES
from tests.factories.records import World
from tests.factories.tasks import make_benchmark as make_tasks
from tests.integration.web.accounts.test_permissions import routes
from tests.integration.web.accounts.writing_requests import INSTALLATION, NAMES_NOTHING, OWN_ACCOUNT, WRITES, send
from tests.integration.web.test_reading import StaleInstallation, get_routes, reader

__all__ = ["reader"]
SECRET = "known-here-only"
"""Name of runs, studies, benchmarks and views of the other project."""
UUIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
OF_EVERYBODY = {
    "/published/{name}",
    "/published/{name}.csv",
    "/published/{name}/results.csv",
    "/published/{name}/{table}.csv",
    "/charts/{version}/plotly.min.js",
    "/api/v1/plugins/{kind}",
    "/api/v1/published/{name}",
    "/benchmarks/{name}/analyses/{table}.csv",
}
"""Routes with parameters that are about no project: published figures, plug-ins, a program, an unknown table."""


def names_something(route: str) -> bool:
    """Whether a route that reads is about something of a project."""
    query = QUERIES.get(route, "")
    return ("{" in route or "_id" in query or "run=" in query) and not is_open(route) and route not in OF_EVERYBODY


NAMED_READS = [route for route in get_routes() if names_something(route)]


NOT_LOGGED = {"POST /api/v1/runs/estimate", "POST /api/v1/runs/forecast"}
"""Routes that change nothing: they compute."""
DONE_BEFORE = {
    "POST /api/v1/runs/{run_id}/close",
    "POST /demonstrations/from-run",
    "POST /episodes/{episode_id}/video",
    "PUT /api/v1/drafts/{draft_id}",
}
"""Routes whose requests here find that what they ask for is so already, and write nothing."""
CHANGED_BEFORE = {
    "DELETE /api/v1/leaderboards/{benchmark}/label-pairs",
    "DELETE /api/v1/public-links/{link_id}",
    "DELETE /api/v1/saved-views/{view_id}",
    "DELETE /api/v1/subscriptions/{subscription_id}",
    "POST /configurations/{configuration_id}/name",
    "PUT /api/v1/episodes/{episode_id}/failure-labels",
}
"""Their twins above them have changed it already; labels are new, and a subscription's entry is its service's own."""
EDITS = {
    *(route for route in WRITES if route.startswith(("PATCH", "PUT", "DELETE"))),
    "POST /api/v1/runs/{run_id}/pause",
    "POST /api/v1/runs/{run_id}/cancel",
    "POST /api/v1/tasks/{task_id}/quarantine/lift",
    "POST /leaderboards/{benchmark}/links/{link_id}/revoke",
    "POST /leaderboards/{benchmark}/views/{view_id}",
    "POST /leaderboards/{benchmark}/views/{view_id}/delete",
    "POST /runs/{run_id}/scheduling",
} - (DONE_BEFORE | CHANGED_BEFORE)
"""Routes whose entries have values before and after."""


class Outsider:
    """Somebody with every right in a project of their own, who knows every id of the other one."""

    def __init__(self, installation: StaleInstallation, folder: Path) -> None:
        made = World(installation.sources[0])
        self.app = create_app(Settings(data_dir=folder, accounts=True), *installation.sources)
        self.people = Team(made, self.app)
        boss = self.people.add("boss", None, admin=True)
        assert boss.post("/api/v1/projects", json={"name": "other"}).status_code == 201
        self.eve = self.people.add("eve", None)
        answer = boss.patch("/api/v1/people/eve", json={"role": "admin"}, headers={"Deskarena-Project": "other"})
        assert answer.json()["roles"] == {"other": "admin"}, answer.text
        self.ada = self.people.add("ada", "admin")
        self.boss = boss
        with made.work() as session:
            self.project_id = session.scalars(select(models.Project.id).where(models.Project.name == "default")).one()
            for column in (models.Run.name, models.Study.name, models.Benchmark.title, models.SavedView.name):
                session.execute(update(column.class_).values({column: SECRET}))
            tables = [table for table in OWNED if table is not models.AccessToken] + [row[0] for row in BELOW]
            self.ids = {
                str(row) for table in tables if hasattr(table, "id") for row in session.scalars(select(table.id))
            }

    def names(self, answer: Any, but: Iterable[Any] = ()) -> list[str]:
        """Leaks of the other project in an answer: ids, and names that nothing else has; not what was asked for."""
        asked = set(map(str, but))
        ids = set(UUIDS.findall(answer.text)) & self.ids
        return sorted((ids | ({SECRET} if SECRET in answer.text else set())) - asked)[:3]

    def log(self) -> list[Any]:
        """The changes that each entry of the audit log has, the oldest first."""
        with self.people.made.work() as session:
            entries = select(models.AuditEntry.changes).where(models.AuditEntry.action != "sign_in")
            return list(session.scalars(entries.order_by(models.AuditEntry.id)))

    def give_eve(self, role: Role) -> None:
        """Gives eve a role in her own project."""
        there = {"Deskarena-Project": "other"}
        assert self.boss.patch("/api/v1/people/eve", json={"role": role}, headers=there).status_code == 200

    def rows(self) -> dict[str, int]:
        """A hash of all rows of the other project, by table."""
        with self.people.made.work() as session, visible_project(self.project_id):
            return {
                table.__tablename__: hash(frozenset(map(repr, session.execute(select(*table.__table__.c)))))
                for table in [*OWNED, *(row[0] for row in BELOW)]
            }


@pytest.fixture(scope="module")
def named(reader: StaleInstallation, outsider: Outsider) -> dict[str, Any]:
    """Values of all parameters of requests."""
    episode = models.Episode
    with outsider.people.made.work() as session:
        works = session.scalars(select(models.Submission.id).order_by(models.Submission.id)).all()
        by_hand = session.scalars(select(episode.id).where(episode.run_id == reader.everything.human).limit(1)).one()
    failed = next(
        row["id"]
        for row in outsider.ada.get(f"/api/v1/runs/{reader.params['run_id']}/episodes?limit=200").json()["items"]
        if row["solved"] is False
    )
    more = {"human": reader.everything.human, "by_hand": by_hand, "failed": failed, "other_work": works[-1]}
    return {**reader.params, **more, "work_id": works[0]}


@pytest.fixture(scope="module")
def outsider(reader: StaleInstallation, tmp_path_factory: pytest.TempPathFactory) -> Outsider:
    return Outsider(reader, tmp_path_factory.mktemp("accounts"))


def make_benchmark(outsider: Outsider, project: str, name: str) -> None:
    """A benchmark of a name that the other project uses, too."""
    made = outsider.people.made
    with made.work() as session:
        project_id = session.scalars(select(models.Project.id).where(models.Project.name == project)).one()
        with acting_as(replace(LOCAL, project_id=project_id, project=project)):
            import_benchmark(session, make_tasks(), name=name, store=made.store)


def as_seen_by(installation: StaleInstallation, client: TestClient, route: str) -> Any:
    """The answer of a route with the other project's ids."""
    return replace(installation, client=client).answer(route)


class TestWalk:
    def test_every_address_of_another_project_is_404(self, reader: StaleInstallation, outsider: Outsider) -> None:
        wrong = {}
        for route in NAMED_READS:
            answer = as_seen_by(reader, outsider.eve, route)
            if answer.status_code != 404:
                wrong[route] = answer.status_code
        assert wrong == {}

    def test_no_list_or_page_names_things_of_another_project(
        self, reader: StaleInstallation, outsider: Outsider
    ) -> None:
        leaks = {}
        for route in get_routes():
            if is_open(route):
                continue
            answer = as_seen_by(reader, outsider.eve, route)
            if answer.status_code < 400 and (names := outsider.names(answer)):
                leaks[route] = names
        assert leaks == {}

    def test_members_read_their_own_project(self, reader: StaleInstallation, outsider: Outsider) -> None:
        routes = [route for route in get_routes() if route.startswith("/api/v1/runs") or route == "/api/v1/benchmarks"]
        for route in routes:
            assert (
                as_seen_by(reader, outsider.ada, route).status_code
                == as_seen_by(reader, reader.client, route).status_code
            ), route

    @pytest.mark.parametrize("path", ["/ws/runs/{run_id}/events", "/ws/attempts/{attempt_id}/live"])
    def test_websockets_of_another_project_are_refused(
        self, reader: StaleInstallation, outsider: Outsider, path: str
    ) -> None:
        address = f"ws://127.0.0.1:8000{path.format(**reader.params)}"
        with outsider.eve.websocket_connect(address) as socket:
            message = socket.receive()
        assert (message["type"], message.get("code")) == ("websocket.close", 4404)

    def test_naming_another_project_gives_no_role(self, outsider: Outsider) -> None:
        answer = outsider.eve.get("/api/v1/runs", headers={"Deskarena-Project": "default"})
        assert answer.json()["code"] == "role_required"
        assert outsider.eve.get("/api/v1/projects").json()["items"][0]["name"] == "other"


class TestEveryRoute:
    """Route x role x project: somebody of another project, in every role, with every id of this one."""

    def test_every_route_that_changes_something_has_a_request(self) -> None:
        writes = {
            f"{method} {path}" for method, path in routes() if method not in {"GET", "HEAD", "WS"} and not is_open(path)
        }
        elsewhere = {route for route in writes if route.split()[1].startswith((*OWN_ACCOUNT, *INSTALLATION))}
        assert writes - elsewhere - NAMES_NOTHING == set(WRITES)

    def test_no_route_shows_or_changes_another_projects_things_in_any_role(
        self, reader: StaleInstallation, outsider: Outsider, named: dict[str, Any]
    ) -> None:
        """Each by an admin and by the least role that may; `test_permissions.py` has those below."""
        before, wrong = outsider.rows(), {}
        for role in Role:
            outsider.give_eve(role)
            for route, write in WRITES.items():
                if role not in {need_of(*route.split()).role, Role.ADMIN}:
                    continue
                answer = send(outsider.eve, route, named)
                if answer.status_code not in write.refused or outsider.names(answer, but=named.values()):
                    wrong[role, route] = answer.status_code, answer.text[:200]
            for route in NAMED_READS:  # The admin's are walked above.
                if role == need_of("GET", route).role:
                    answer = as_seen_by(reader, outsider.eve, route)
                    if answer.status_code != 404:
                        wrong[role, route] = answer.status_code, answer.text[:200]
        assert wrong == {}, pformat(wrong)
        assert outsider.rows() == before

    def test_a_project_without_a_role_is_refused_everywhere(
        self, reader: StaleInstallation, outsider: Outsider, named: dict[str, Any]
    ) -> None:
        wrong = {}
        outsider.eve.headers["Deskarena-Project"] = "default"
        try:
            for route in WRITES:
                wrong[route] = send(outsider.eve, route, named).json().get("code")
            for route in get_routes():
                if not is_open(route) and need_of("GET", route).role:
                    answer = as_seen_by(reader, outsider.eve, route)
                    wrong[route] = "role_required" if answer.status_code == 403 else answer.status_code
        finally:
            del outsider.eve.headers["Deskarena-Project"]
        assert {route: code for route, code in wrong.items() if code != "role_required"} == {}

    @pytest.mark.parametrize("way", ["id", "name"])
    def test_search_finds_nothing_of_another_project(self, outsider: Outsider, named: dict[str, Any], way: str) -> None:
        words = [str(named[key]) for key in ("run_id", "episode_id", "task_id")] if way == "id" else ["starter", SECRET]
        for word in words:
            theirs, own = (each.get(f"/api/v1/search?q={word}") for each in (outsider.ada, outsider.eve))
            assert theirs.text != own.text, word
            assert not outsider.names(own, but=[word])


class TestSameNames:
    def test_a_public_link_shows_its_own_project_to_everybody(
        self, reader: StaleInstallation, outsider: Outsider
    ) -> None:
        make_benchmark(outsider, "other", "starter")
        address = f"/public/{reader.params['token']}"
        shown = reader.client.get(address)
        assert shown.status_code == 200
        for browser in (outsider.eve, outsider.ada, outsider.people.browser()):
            assert browser.get(address).text.count("data-row") == shown.text.count("data-row") > 0
        assert outsider.eve.get("/api/v1/benchmarks/starter").json()["id"] not in outsider.ids

    def test_both_projects_have_a_benchmark_of_the_same_name(self, outsider: Outsider) -> None:
        make_benchmark(outsider, "other", "creative")
        own, theirs = (each.get("/api/v1/benchmarks/creative").json()["id"] for each in (outsider.ada, outsider.eve))
        assert own in outsider.ids
        assert theirs not in outsider.ids


class TestOwnPeople:
    def test_members_reach_everything_that_the_requests_name(self, outsider: Outsider, named: dict[str, Any]) -> None:
        """So a request that is refused elsewhere is refused for the project, not because it names nothing."""
        wrong, done, unlogged, unchanged = {}, set(), set(), set()
        for route, write in WRITES.items():
            logged = outsider.log()
            answer = send(outsider.ada, route, named)
            if answer.status_code in {401, 403, 500} or (answer.status_code == 404 and not write.kept):
                wrong[route] = answer.status_code, answer.text[:300]
            new = outsider.log()[len(logged) :]
            if answer.status_code < 400:
                done.add(route)
                unlogged |= set() if new else {route}
                unchanged |= set() if any(new) else {route}
            elif new:
                wrong[route] = "refused, and in the audit log", ""
        assert wrong == {}, pformat(wrong)
        assert unlogged == NOT_LOGGED | DONE_BEFORE
        assert len(done) > 60
        assert unchanged & EDITS == set()


class TestScope:
    def test_every_table_with_a_project_or_below_one_has_a_rule(self) -> None:
        covered = {table.__tablename__ for table in OWNED} | {row[0].__tablename__ for row in BELOW}
        owned = {
            mapper.class_.__tablename__
            for mapper in models.Base.registry.mappers
            if "project_id" in mapper.columns
            and mapper.class_.__tablename__ not in {"actor", "membership", "audit_entry"}
        }
        assert owned - covered == set()

    def test_applies_only_within_the_context(self) -> None:
        with visible_project(None):
            assert current_project() is None
