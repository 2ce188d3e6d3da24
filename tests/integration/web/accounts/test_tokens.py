"""Tokens of programs: what they may do, and when they end."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from backend.db.models import AccessToken, Actor
from backend.services.accounts.secret_tokens import is_token
from tests.factories.accounts import Team, team
from tests.factories.records import World

RUN = {"benchmark": "starter", "agent": "noop"}


@pytest.fixture
def people(installation: World, tmp_path: Path) -> Iterator[Team]:
    with team(installation, tmp_path) as made:
        yield made


def created(browser: TestClient, **body: Any) -> dict[str, Any]:
    answer = browser.post("/api/v1/tokens", json={"name": "nightly", **body})
    assert answer.status_code == 201, answer.text
    assert answer.headers["cache-control"] == "no-store"
    token: dict[str, Any] = answer.json()
    return token


def program(people: Team, token: str) -> TestClient:
    client = people.browser()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


class TestPersonalTokens:
    def test_acts_as_its_person_up_to_its_role(self, people: Team) -> None:
        ada = people.add("ada", "maintainer")
        runner = program(people, created(ada, role="runner")["token"])
        assert runner.post("/api/v1/runs", json=RUN).status_code == 201
        assert runner.patch("/api/v1/configurations/x", json={}).json()["code"] == "role_required"
        viewer = program(people, created(ada, role="viewer")["token"])
        assert viewer.get("/api/v1/runs").status_code == 200
        assert viewer.post("/api/v1/runs", json=RUN).json()["code"] == "role_required"
        with people.made.work() as session:
            assert set(session.scalars(select(Actor.name))) >= {"ada"}
            assert session.scalars(select(Actor.kind).where(Actor.name == "ada")).one() == "person"

    def test_shrinks_with_the_persons_role(self, people: Team) -> None:
        boss, ada = people.add("boss", None, admin=True), people.add("ada", "runner")
        token = program(people, created(ada, role="runner")["token"])
        boss.patch("/api/v1/people/ada", json={"role": "viewer"})
        assert token.post("/api/v1/runs", json=RUN).json()["code"] == "role_required"
        boss.patch("/api/v1/people/ada", json={"enabled": False})
        assert token.get("/api/v1/runs").status_code == 401

    def test_never_administers_and_makes_no_tokens(self, people: Team) -> None:
        boss = people.add("boss", None, admin=True)
        token = program(people, created(boss, role="admin")["token"])
        assert token.get("/api/v1/people").json()["code"] == "admin_required"
        assert token.post("/api/v1/tokens", json={"name": "more"}).json()["code"] == "no_account"
        assert token.get("/api/v1/tokens").json()["code"] == "no_account"

    def test_token_cannot_exceed_its_owners_role(self, people: Team) -> None:
        ada = people.add("ada", "runner")
        assert ada.post("/api/v1/tokens", json={"name": "x", "role": "admin"}).json()["code"] == "role_required"
        body = {"name": "x", "role": "viewer", "kind": "project"}
        assert ada.post("/api/v1/tokens", json=body).json()["code"] == "role_required"
        assert ada.post("/api/v1/tokens", json={"name": "x", "role": "viewer", "user_id": "1"}).status_code == 422

    def test_ends_when_revoked_expired_or_mistyped(self, people: Team) -> None:
        ada, eve = people.add("ada", "runner"), people.add("eve", "maintainer")
        token = created(ada)
        client = program(people, token["token"])
        assert client.get("/api/v1/runs").status_code == 200
        assert eve.delete(f"/api/v1/tokens/{token['id']}").status_code == 404
        assert client.get("/api/v1/runs").status_code == 200
        assert ada.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
        assert client.get("/api/v1/runs").status_code == 401
        late = created(ada)
        with people.made.work() as session:
            session.execute(update(AccessToken).values(expires_at=func.now() - timedelta(seconds=1)))
        assert program(people, late["token"]).get("/api/v1/runs").status_code == 401
        assert program(people, late["token"][:-1]).get("/api/v1/runs").status_code == 401

    def test_revoked_in_another_process_it_changes_nothing_more(self, people: Team, tmp_path: Path) -> None:
        ada = people.add("ada", "runner")
        token = created(ada)
        with team(people.made, tmp_path) as second:
            client = program(second, token["token"])
            assert client.get("/api/v1/runs").status_code == 200
            assert ada.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
            assert client.post("/api/v1/runs", json=RUN).status_code == 401
            assert client.get("/api/v1/runs").status_code == 401  # It has been asked for anew.

    def test_is_shown_once_and_stored_as_a_hash(self, people: Team) -> None:
        ada = people.add("ada", "runner")
        token = created(ada)["token"]
        assert token.startswith("dkp_")
        assert (is_token(token, "dkp"), is_token(f"{token[:-1]}g", "dkp")) == (True, False)
        program(people, token).get("/api/v1/runs")
        (row,) = ada.get("/api/v1/tokens").json()["items"]
        assert row["used_at"] is not None
        assert token not in ada.get("/account").text
        assert row["beginning"] in ada.get("/account").text
        with people.made.work() as session:
            assert token not in str(vars(session.scalars(select(AccessToken)).one()))

    def test_the_page_creates_and_revokes(self, people: Team) -> None:
        ada = people.add("ada", "runner")
        page = ada.post("/account/tokens", data={"name": "ci", "role": "runner", "days": "7"})
        assert page.status_code == 200
        assert "dkp_" in page.text
        assert page.headers["cache-control"] == "no-store"
        (row,) = ada.get("/api/v1/tokens").json()["items"]
        assert ada.post(f"/account/tokens/{row['id']}/revoke").status_code == 303
        assert ada.get("/api/v1/tokens").json()["items"] == []
        assert ada.post("/account/tokens", data={"name": "ci", "role": "runner", "days": "0"}).status_code == 422


class TestProjectTokens:
    def test_acts_as_a_program(self, people: Team) -> None:
        chief, other = people.add("chief", "admin"), people.add("other", "admin")
        token = created(chief, kind="project", role="runner")
        assert token["token"].startswith("dkj_")
        assert program(people, token["token"]).post("/api/v1/runs", json=RUN).status_code == 201
        with people.made.work() as session:
            assert session.scalars(select(Actor.kind).where(Actor.name == "token:nightly")).one() == "program"
        assert [row["id"] for row in other.get("/api/v1/tokens").json()["items"]] == [token["id"]]
        assert other.delete(f"/api/v1/tokens/{token['id']}").status_code == 204
        assert program(people, token["token"]).get("/api/v1/runs").status_code == 401
