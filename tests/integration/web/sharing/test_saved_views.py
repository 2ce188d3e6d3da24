"""Saved views of boards: named, listed, opened, renamed, deleted, on pages and by REST."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import update

from backend.db.models import SavedView
from tests.factories.records import World
from tests.factories.team_board import team_installation
from tests.integration.web.conftest import client_of

PAGE = {"Accept": "text/html"}
BOARD = "/leaderboards/starter"
VIEWS = "/api/v1/saved-views"


@pytest.fixture(scope="module")
def team(postgres_server: str) -> Iterator[World]:
    with team_installation(postgres_server) as installation:
        yield installation


@pytest.fixture(scope="module")
def client(team: World, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    return client_of(team, tmp_path_factory.mktemp("data"))


@pytest.fixture(autouse=True)
def _no_views(client: TestClient) -> None:
    for view in client.get(VIEWS).json()["items"]:
        assert client.delete(f"{VIEWS}/{view['id']}").status_code == 204


def saved(client: TestClient, name: str, **query: object) -> dict[str, Any]:
    answer = client.post(VIEWS, json={"benchmark": "starter", "name": name, "query": query})
    assert answer.status_code == 201, answer.text
    view: dict[str, Any] = answer.json()
    return view


class TestRest:
    def test_a_view_is_saved_listed_changed_and_deleted(self, client: TestClient) -> None:
        view = saved(client, " by steps ", sort="steps", column=["steps", "run"], common=True)
        assert (view["name"], view["benchmark"]) == ("by steps", "starter")
        assert view["query"] == {"sort": "steps", "column": ["steps", "run"], "common": True}
        assert client.get(VIEWS, params={"benchmark": "starter"}).json()["items"] == [view]
        changed = client.patch(
            f"{VIEWS}/{view['id']}", json={"name": "cheap", "query": {"cost": "seconds"}}, headers={"If-Match": "*"}
        ).json()
        assert (changed["name"], changed["query"]) == ("cheap", {"cost": "seconds"})
        assert client.get(f"{VIEWS}/{view['id']}").json() == changed
        assert [client.delete(f"{VIEWS}/{view['id']}").status_code for _ in range(2)] == [204, 204]
        assert client.get(f"{VIEWS}/{view['id']}").json()["code"] == "view_not_found"

    @pytest.mark.parametrize(
        ("query", "path"),
        [
            ({"colour": "red"}, "query.colour"),
            ({"cost": "euros"}, "query.cost"),
            ({"version": 0}, "query.version"),
            ({"sort": "a\0"}, "query.sort"),
            ({"column": ["x" * 101]}, "query.column"),
        ],
    )
    def test_unknown_query_fields_are_not_saved(self, client: TestClient, query: dict[str, object], path: str) -> None:
        answer = client.post(VIEWS, json={"benchmark": "starter", "name": "new", "query": query})
        assert (answer.status_code, answer.json()["code"], answer.json()["path"]) == (422, "invalid_view", path)
        assert client.get(VIEWS).json()["items"] == []

    def test_names_are_unique_for_a_benchmark(self, client: TestClient) -> None:
        saved(client, "one")
        other = saved(client, "two")
        again = client.post(VIEWS, json={"benchmark": "starter", "name": "one"})
        renamed = client.patch(f"{VIEWS}/{other['id']}", json={"name": "one"}, headers={"If-Match": "*"})
        for answer in (again, renamed):
            assert (answer.status_code, answer.json()["code"]) == (409, "name_already_used")
        assert (
            client.patch(f"{VIEWS}/{other['id']}", json={"name": "two"}, headers={"If-Match": "*"}).status_code == 200
        )

    @pytest.mark.parametrize("name", ["", "  ", "two\nlines"])
    def test_name_must_be_one_line(self, client: TestClient, name: str) -> None:
        answer = client.post(VIEWS, json={"benchmark": "starter", "name": name})
        assert (answer.status_code, answer.json()["code"]) == (422, "invalid_name")

    def test_unknown_benchmark_is_404(self, client: TestClient) -> None:
        assert client.get(VIEWS, params={"benchmark": "nothing"}).status_code == 404


class TestPages:
    def test_a_view_is_saved_from_the_board_and_opens_it_as_it_was(self, client: TestClient) -> None:
        form = {"name": "few columns", "query": "column=steps&sort=steps&common=true"}
        address = client.post(f"{BOARD}/views", data=form).headers["location"]
        (view,) = client.get(VIEWS).json()["items"]
        assert address == view["address"]
        text = client.get(address, headers=PAGE).text
        assert ">Steps ↓" in text
        assert ">Success rate</a>" not in text
        assert 'aria-current="true">few columns</a>' in text
        assert client.get(f"/api/v1{address}").json()["common_tasks"] == 8
        changed = client.get(f"{address}&measure=success", headers=PAGE).text
        assert 'aria-current="true">few columns</a>' not in changed

    def test_view_of_another_release_lists_unknown_options(self, client: TestClient, team: World) -> None:
        view = saved(client, "old", sort="steps")
        with team.work() as session:
            session.execute(update(SavedView).values(query={"sort": "steps", "colour": "red", "cost": "euros"}))
        stored = client.get(f"{VIEWS}/{view['id']}").json()
        assert (stored["query"], stored["ignored"]) == ({"sort": "steps"}, ["colour", "cost"])
        page = client.get(stored["address"], headers=PAGE)
        assert page.status_code == 200
        assert "colour, cost" in page.text

    def test_renames_replaces_and_deletes(self, client: TestClient) -> None:
        view = saved(client, "first")
        one = f"{BOARD}/views/{view['id']}"
        assert client.post(one, data={"name": "second"}).status_code == 303
        assert client.post(one, data={"query": "sort=steps"}).headers["location"] == f"{BOARD}/sharing?sort=steps"
        page = client.get(f"{BOARD}/sharing", headers=PAGE).text
        assert f'data-view="{view["id"]}"' in page
        assert client.get(f"{VIEWS}/{view['id']}").json()["name"] == "second"
        assert client.get(f"{VIEWS}/{view['id']}").json()["query"] == {"sort": "steps"}
        assert client.post(f"{one}/delete").status_code == 303
        assert client.get(VIEWS).json()["items"] == []

    def test_invalid_form_shows_an_alert(self, client: TestClient) -> None:
        saved(client, "first")
        for form, status in (
            ({"name": "first"}, 409),
            ({"name": ""}, 422),
            ({"name": "x", "query": "cost=euros"}, 422),
        ):
            answer = client.post(f"{BOARD}/views", data=form, headers=PAGE)
            assert (answer.status_code, 'role="alert"' in answer.text) == (status, True)
