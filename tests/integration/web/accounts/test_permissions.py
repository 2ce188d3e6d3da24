"""Every route with every role: nobody does what their role does not cover, and no route is without a decision."""

import re
from collections.abc import Iterator

import pytest
from fastapi.testclient import TestClient
from starlette.websockets import WebSocketDisconnect

from backend.db.models.enums import Role
from backend.domain.errors import NotAllowed
from backend.web import api_routes, page_routes, socket_routes
from backend.web.accounts.permissions import NEEDS, need_of
from backend.web.security_middleware import SIGNAL_PATHS, is_open
from tests import databases
from tests.error_codes import raises_code
from tests.factories.accounts import Team, team
from tests.factories.records import world

READS = ("GET", "HEAD")
UUID = "018f0000-0000-7000-8000-000000000000"
FIRST_NEEDED = {
    "admin": {"projects", "licences", "people", "audit-log", "workers"},
    "maintainer": {"benchmarks", "configurations", "public-links", "label-pairs", "links", "publish"},
}
"""Words in the paths of writing routes that the roles below must never reach."""


def routes() -> list[tuple[str, str]]:
    """Method and path of every route of the application."""
    routers = (*api_routes.ROUTERS, *page_routes.ROUTERS, *socket_routes.ROUTERS)
    return sorted(
        {
            (method, route.path)
            for router in routers
            for route in router.routes
            for method in (getattr(route, "methods", None) or {"WS"})
        }
    )


def address(path: str) -> str:
    return re.sub(r"\{[^}]*(id|token)\}", UUID, path).replace("{number}", "1").replace("{sha256}", "0" * 64)


def concrete(path: str) -> str:
    return re.sub(r"\{[^}]*\}", "nothing", address(path))


@pytest.fixture(scope="module")
def roles(
    postgres_server: str, tmp_path_factory: pytest.TempPathFactory
) -> Iterator[tuple[Team, dict[str, TestClient]]]:
    """A browser for each role; `none` has no role in the project."""
    with databases.copied(postgres_server) as url, world(url) as made:
        made.benchmark()
        with team(made, tmp_path_factory.mktemp("data")) as people:
            browsers = {role.value: people.add(role.value, role) for role in Role}
            browsers["none"] = people.add("outsider", None)
            browsers["nobody"] = people.browser()
            yield people, browsers


def status(browser: TestClient, method: str, path: str) -> tuple[int, str]:
    """Status and error code of a request without a body."""
    if method == "WS":
        try:
            with browser.websocket_connect(f"ws://127.0.0.1:8000{concrete(path)}?client=12345678"):
                return 101, ""
        except WebSocketDisconnect as closed:
            return (403, "role_required") if closed.code == 1008 and "role" in closed.reason else (closed.code, "")
    answer = browser.request(method, concrete(path), headers={"Accept": "application/json"})
    body = answer.json() if "json" in answer.headers.get("content-type", "") and answer.content else {}
    return answer.status_code, body.get("code", "") if isinstance(body, dict) else ""


class TestDecisions:
    def test_every_route_that_changes_something_has_one(self) -> None:
        undecided = [
            f"{method} {path}"
            for method, path in routes()
            if method not in READS and not is_open(path) and f"{method} {path}" not in NEEDS
        ]
        assert [one for one in undecided if not one.startswith("WS ")] == []
        assert undecided == ["WS /ws/attempts/{attempt_id}/live", "WS /ws/events", "WS /ws/runs/{run_id}/events"]

    def test_every_decision_names_an_existing_route(self) -> None:
        assert {line for line in NEEDS if tuple(line.split()) not in routes()} == set()

    def test_undecided_change_is_refused(self) -> None:
        with raises_code(NotAllowed, "role_undecided"):
            need_of("POST", "/api/v1/brand-new")

    def test_a_viewer_changes_nothing(self) -> None:
        changing = [
            f"{method} {path}"
            for method, path in routes()
            if method not in (*READS, "WS") and not is_open(path) and need_of(method, path).role in {None, Role.VIEWER}
            and not need_of(method, path).admin
        ]  # fmt: skip
        assert changing == [
            "DELETE /api/v1/account/sessions/{session_id}",
            "DELETE /api/v1/tokens/{token_id}",
            "POST /account/password",
            "POST /account/project",
            "POST /account/sessions/{session_id}/end",
            "POST /account/tokens",
            "POST /account/tokens/{token_id}/revoke",
            "POST /api/v1/runs/estimate",
            "POST /api/v1/runs/forecast",
            "POST /api/v1/stream-tickets",
            "POST /api/v1/tokens",
            "POST /logout",
            "POST /tasks/drafts/you",
        ]

    def test_figures_of_the_installation_are_its_administrators(self) -> None:
        assert all(need_of(method, path).admin for method in READS for path in SIGNAL_PATHS)

    def test_a_role_covers_those_below_it(self) -> None:
        order = list(Role)
        assert [[one.covers(other) for other in order] for one in order] == [
            [column <= row for column in range(5)] for row in range(5)
        ]


class TestWalk:
    def test_every_route_refuses_the_role_below_and_lets_the_needed_one_pass(
        self, roles: tuple[Team, dict[str, TestClient]]
    ) -> None:
        _, browsers = roles
        wrong = []
        for method, path in routes():
            need = need_of(method, path)
            if is_open(path) or need.role is None or method == "HEAD":
                continue
            order = ["none", *Role]
            below = order[order.index(need.role) - 1]
            refused, passed = status(browsers[below], method, path), status(browsers[need.role], method, path)
            if refused != (403, "role_required") or passed[1] == "role_required" or passed[0] in {401, 500}:
                wrong.append((method, path, refused, passed))
        assert wrong == []

    def test_every_route_refuses_who_has_no_role_in_the_project(
        self, roles: tuple[Team, dict[str, TestClient]]
    ) -> None:
        _, browsers = roles
        about = [one for one in routes() if not is_open(one[1]) and need_of(*one).role and one[0] not in {"HEAD", "WS"}]
        assert len(about) > 200
        assert [one for one in about if status(browsers["none"], *one) != (403, "role_required")] == []

    def test_every_route_refuses_who_is_not_signed_in(self, roles: tuple[Team, dict[str, TestClient]]) -> None:
        _, browsers = roles
        closed = [(method, path) for method, path in routes() if not is_open(path) and method not in {"HEAD", "WS"}]
        assert [one for one in closed if status(browsers["nobody"], *one)[0] != 401] == []

    def test_administration_requires_an_administrator(self, roles: tuple[Team, dict[str, TestClient]]) -> None:
        """The role `admin` in a project does not administer the installation."""
        people, browsers = roles
        boss = people.add("boss", None, admin=True)
        admins = [(method, path) for method, path in routes() if need_of(method, path).admin and method != "HEAD"]
        assert len(admins) > 10
        assert [one for one in admins if status(browsers["admin"], *one) != (403, "admin_required")] == []
        assert [one for one in admins if status(boss, *one)[0] in {401, 403, 500}] == []
