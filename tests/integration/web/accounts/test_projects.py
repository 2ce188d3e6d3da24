"""Nobody sees another project's rows: every route that reads, asked by somebody of another project."""

import re
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import select

from backend.config import Settings
from backend.db import models
from backend.db.project_scope import BELOW, OWNED, current_project, visible_project
from backend.services.accounts.principal import LOCAL, acting_as
from backend.services.benchmarks.benchmarks import import_benchmark
from backend.web.app import create_app
from backend.web.security_middleware import is_open
from tests.factories.accounts import Team
from tests.factories.everything import QUERIES
from tests.factories.records import World
from tests.factories.tasks import make_benchmark as make_tasks
from tests.integration.web.test_reading import StaleInstallation, get_routes, reader

__all__ = ["reader"]
UUIDS = re.compile(r"[0-9a-f]{8}-[0-9a-f]{4}-7[0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}")
OF_EVERYBODY = {
    "/published/{name}",
    "/published/{name}/results.csv",
    "/published/{name}/{table}.csv",
    "/charts/{version}/plotly.min.js",
    "/api/v1/plugins/{kind}",
    "/api/v1/published/{name}",
    "/benchmarks/{name}/analyses/{table}.csv",
}
"""Routes with parameters that are about no project: published figures, plug-ins, a program, an unknown table."""


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
            tables = [table for table in OWNED if table is not models.AccessToken] + [row[0] for row in BELOW]
            self.ids = {
                str(row) for table in tables if hasattr(table, "id") for row in session.scalars(select(table.id))
            }


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
    def test_every_address_of_another_project_is_none(self, reader: StaleInstallation, outsider: Outsider) -> None:
        wrong = {}
        for route in get_routes():
            named = "{" in route or "_id" in QUERIES.get(route, "") or "run=" in QUERIES.get(route, "")
            if not named or is_open(route) or route in OF_EVERYBODY:
                continue
            answer = as_seen_by(reader, outsider.eve, route)
            if answer.status_code != 404:
                wrong[route] = answer.status_code
        assert wrong == {}

    def test_no_list_and_no_page_names_anything_of_it(self, reader: StaleInstallation, outsider: Outsider) -> None:
        leaks = {}
        for route in get_routes():
            if is_open(route):
                continue
            answer = as_seen_by(reader, outsider.eve, route)
            if answer.status_code < 400 and (found := set(UUIDS.findall(answer.text)) & outsider.ids):
                leaks[route] = sorted(found)[:3]
        assert leaks == {}

    def test_its_own_people_see_all_of_it(self, reader: StaleInstallation, outsider: Outsider) -> None:
        routes = [route for route in get_routes() if route.startswith("/api/v1/runs") or route == "/api/v1/benchmarks"]
        for route in routes:
            assert (
                as_seen_by(reader, outsider.ada, route).status_code
                == as_seen_by(reader, reader.client, route).status_code
            ), route

    @pytest.mark.parametrize("path", ["/ws/runs/{run_id}/events", "/ws/attempts/{attempt_id}/live"])
    def test_no_socket_opens(self, reader: StaleInstallation, outsider: Outsider, path: str) -> None:
        address = f"ws://127.0.0.1:8000{path.format(**reader.params)}"
        with outsider.eve.websocket_connect(address) as socket:
            message = socket.receive()
        assert (message["type"], message.get("code")) == ("websocket.close", 4404)

    def test_another_projects_name_gives_no_role(self, outsider: Outsider) -> None:
        answer = outsider.eve.get("/api/v1/runs", headers={"Deskarena-Project": "default"})
        assert answer.json()["code"] == "role_required"
        assert outsider.eve.get("/api/v1/projects").json()["items"][0]["name"] == "other"

    def test_changes_of_another_projects_things_are_refused(
        self, reader: StaleInstallation, outsider: Outsider
    ) -> None:
        run, task = reader.params["run_id"], reader.params["task_id"]
        for method, path in (
            ("POST", f"/api/v1/runs/{run}/cancel"),
            ("PATCH", f"/api/v1/runs/{run}"),
            ("POST", f"/api/v1/runs/{run}/retry"),
            ("DELETE", f"/api/v1/public-links/{reader.params['link_id']}"),
        ):
            assert outsider.eve.request(method, path, json={} if method != "DELETE" else None).status_code == 404, path
        view = f"/api/v1/saved-views/{reader.params['view_id']}"
        assert outsider.eve.delete(view).status_code == 204  # Safe to repeat: what is not there is gone.
        assert outsider.ada.get(view).status_code == 200
        body = {"reason": "x"}
        assert outsider.eve.post(f"/api/v1/tasks/{task}/quarantine", json=body).status_code == 404

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

    def test_applies_within_only(self) -> None:
        with visible_project(None):
            assert current_project() is None
