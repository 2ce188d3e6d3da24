"""CI without a stored secret: which jobs get a token of which project, and what it does."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from sqlalchemy import func, select, update

from backend.config import Settings
from backend.db.models import AccessToken, AuditEntry, TrustRule
from backend.web.app import create_app
from tests.factories.accounts import Team
from tests.factories.issuers import FakeIssuer, issuing
from tests.factories.records import World

AUDIENCE = "https://deskarena.example.org"
EXCHANGE, RULES = "/api/v1/id-token-exchange", "/api/v1/trust-rules"
RUN = {"benchmark": "starter", "agent": "noop"}
MAIN = "repo:acme/shop:ref:refs/heads/main"


@pytest.fixture(scope="module")
def server() -> Iterator[FakeIssuer]:
    with issuing() as issuer:
        yield issuer


@pytest.fixture
def issuer(server: FakeIssuer) -> FakeIssuer:
    server.asked.clear()
    return server


@pytest.fixture
def people(installation: World, tmp_path: Path) -> Team:
    settings = Settings(data_dir=tmp_path, accounts=True, web_private_hosts=("127.0.0.1",))
    return Team(installation, create_app(settings, installation.factory, installation.store))


def rule(issuer: FakeIssuer, **more: Any) -> dict[str, Any]:
    return {"name": "shop", "issuer": issuer.url, "audience": AUDIENCE, "claims": {"sub": MAIN}, **more}


def exchanged(people: Team, token: str, **more: Any) -> Any:
    return people.browser().post(EXCHANGE, json={"id_token": token, **more})


def program(people: Team, token: str) -> TestClient:
    client = people.browser()
    client.headers["Authorization"] = f"Bearer {token}"
    return client


class TestExchange:
    def test_a_trusted_job_gets_a_token_of_the_project_for_a_while(self, people: Team, issuer: FakeIssuer) -> None:
        chief = people.add("chief", "admin")
        created = chief.post(RULES, json=rule(issuer, minutes=15))
        assert created.status_code == 201, created.text
        answer = exchanged(people, issuer.token())
        assert answer.status_code == 201, answer.text
        assert answer.headers["cache-control"] == "no-store"
        token = answer.json()["token"]
        client = program(people, token)
        assert client.post("/api/v1/runs", json=RUN).status_code == 201
        assert client.post("/api/v1/public-links", json={"benchmark": "starter"}).json()["code"] == "role_required"
        assert client.post(RULES, json=rule(issuer, name="more")).json()["code"] == "role_required"
        assert chief.get("/api/v1/tokens").json()["items"] == []  # One per job would bury the others.
        (row,) = chief.get(RULES).json()["items"]
        assert row["used_at"] is not None
        with people.made.work() as session:
            left = session.scalars(select(func.extract("epoch", AccessToken.expires_at - func.now()))).one()
            assert 14 * 60 < left <= 15 * 60
            entry = session.scalars(select(AuditEntry).where(AuditEntry.action == "id_token_exchanged")).one()
            assert (entry.who, entry.target, entry.address) == ("token:shop", "shop", "198.51.100.7")
            assert entry.changes == {"subject": [None, MAIN], "token": [None, token[:10]]}
            session.execute(update(AccessToken).values(expires_at=func.now()))
        assert client.get("/api/v1/runs").status_code == 401

    @pytest.mark.parametrize(
        "claims",
        [
            {"sub": "repo:acme/shop:ref:refs/heads/feature"},
            {"sub": "repo:evil/shop:ref:refs/heads/main"},
            {"sub": f"{MAIN}x"},
            {"aud": "https://other.example.org"},
            {"repository_id": 8},
            {"environment": None},
            {"exp": 1},
        ],
    )
    def test_other_jobs_get_no_token(self, people: Team, issuer: FakeIssuer, claims: dict[str, Any]) -> None:
        patterns = {"sub": MAIN, "repository_id": "7", "environment": "prod*"}
        people.add("chief", "admin").post(RULES, json=rule(issuer, claims=patterns))
        fitting = {"repository_id": 7, "environment": "production"}
        assert exchanged(people, issuer.token(fitting)).status_code == 201
        refused = exchanged(people, issuer.token({**fitting, **claims}))
        assert (refused.status_code, refused.json()["code"]) == (403, "id_token_refused")

    def test_id_token_with_a_jti_is_exchanged_once(self, people: Team, issuer: FakeIssuer) -> None:
        people.add("chief", "admin").post(RULES, json=rule(issuer))
        token = issuer.token(jti="job-1")
        assert exchanged(people, token).status_code == 201
        refused = exchanged(people, token)
        assert (refused.status_code, refused.json()["code"]) == (403, "id_token_used")
        assert exchanged(people, issuer.token(jti="job-1", run_id="another")).status_code == 403
        assert exchanged(people, issuer.token(jti="job-2")).status_code == 201
        without = issuer.token()
        assert [exchanged(people, without).status_code for _ in range(2)] == [201, 201]  # Until it ends.

    def test_issuers_without_a_rule_are_not_contacted(self, people: Team, issuer: FakeIssuer) -> None:
        for token in (issuer.token(), "rubbish", "x" * 19_000):
            assert exchanged(people, token).json()["code"] == "id_token_refused"
        people.add("chief", "admin").post(RULES, json=rule(issuer))
        assert exchanged(people, issuer.token(), project="other").status_code == 403
        assert exchanged(people, issuer.token(aud="https://other.example.org")).status_code == 403
        assert issuer.asked == []

    def test_a_token_of_one_project_opens_no_other(self, people: Team, issuer: FakeIssuer) -> None:
        boss = people.add("boss", None, admin=True)
        boss.post("/api/v1/projects", json={"name": "other"})
        there = {"Deskarena-Project": "other"}
        assert boss.post(RULES, json=rule(issuer), headers=there).status_code == 201
        assert exchanged(people, issuer.token()).status_code == 403
        rule_id = boss.get(RULES, headers=there).json()["items"][0]["id"]
        chief = people.add("chief", "admin")
        assert (chief.get(RULES).json()["items"], chief.delete(f"{RULES}/{rule_id}").status_code) == ([], 404)
        token = exchanged(people, issuer.token(), project="other").json()["token"]
        client = program(people, token)
        assert client.get("/api/v1/benchmarks").json()["items"] == []
        assert client.get("/api/v1/runs", headers={"Deskarena-Project": "default"}).status_code == 403

    def test_ends_with_its_rule(self, people: Team, issuer: FakeIssuer) -> None:
        chief = people.add("chief", "admin")
        rule_id = chief.post(RULES, json=rule(issuer)).json()["id"]
        client = program(people, exchanged(people, issuer.token()).json()["token"])
        assert client.get("/api/v1/runs").status_code == 200
        assert chief.delete(f"{RULES}/{rule_id}").status_code == 204
        assert client.get("/api/v1/runs").status_code == 401
        assert exchanged(people, issuer.token()).status_code == 403
        assert chief.delete(f"{RULES}/{rule_id}").status_code == 404

    def test_exchange_is_absent_without_accounts(self, installation: World, tmp_path: Path, issuer: FakeIssuer) -> None:
        app = create_app(Settings(data_dir=tmp_path), installation.factory, installation.store)
        assert exchanged(Team(installation, app), issuer.token()).status_code == 404


class TestRules:
    def test_too_broad_or_empty_rule_is_refused(self, people: Team, issuer: FakeIssuer) -> None:
        chief = people.add("chief", "admin")
        for fields in (
            {"name": " "},
            {"issuer": "http://issuer.example.org"},
            {"audience": " "},
            {"claims": {"repository": "acme/shop"}},
            {"claims": {"sub": "*"}},
            {"claims": {"sub": "repo:*"}},
            {"claims": {"sub": "repo:acme/shop*"}},
            {"claims": {"sub": "repo:a/*/*/*/*/*/*/b"}},
            {"claims": {"sub": MAIN, "x": ""}},
            {"claims": {"sub": MAIN, "a b": "c"}},
            {"minutes": 0},
            {"minutes": 721},
            {"role": "owner"},
            {"project_id": "1"},
        ):
            assert chief.post(RULES, json={**rule(issuer), **fields}).status_code == 422, fields

    def test_rules_require_a_project_admin(self, people: Team, issuer: FakeIssuer) -> None:
        chief, worker = people.add("chief", "admin"), people.add("worker", "maintainer")
        assert worker.post(RULES, json=rule(issuer)).json()["code"] == "role_required"
        assert worker.get(RULES).json()["code"] == "role_required"
        assert "CI without a stored secret" not in worker.get("/account").text
        rule_id = chief.post(RULES, json=rule(issuer)).json()["id"]
        assert chief.post(RULES, json=rule(issuer)).json()["code"] == "trust_rule_exists"
        assert worker.delete(f"{RULES}/{rule_id}").json()["code"] == "role_required"
        body = {"name": "x", "kind": "project", "role": "admin"}
        leaked = program(people, chief.post("/api/v1/tokens", json=body).json()["token"])
        assert leaked.post(RULES, json=rule(issuer, name="more")).json()["code"] == "no_account"

    def test_the_page_adds_and_revokes(self, people: Team, issuer: FakeIssuer) -> None:
        chief = people.add("chief", "admin")
        form = {"name": "shop", "issuer": issuer.url, "audience": AUDIENCE, "role": "viewer", "minutes": "5"}
        wrong = chief.post("/account/trust-rules", data={**form, "claims": "repository = acme/shop"})
        assert wrong.status_code == 422
        assert "claim sub" in wrong.text
        claims = "sub = repo:acme/shop:*\n\nref_type=branch"
        assert chief.post("/account/trust-rules", data={**form, "claims": claims}).status_code == 303
        page = chief.get("/account").text
        assert "sub = repo:acme/shop:*<br>ref_type = branch" in page
        with people.made.work() as session:
            row = session.scalars(select(TrustRule)).one()
            assert row.claims == {"sub": "repo:acme/shop:*", "ref_type": "branch"}
        assert exchanged(people, issuer.token(ref_type="branch")).json()["role"] == "viewer"
        assert chief.post(f"/account/trust-rules/{row.id}/revoke").status_code == 303
        assert "ref_type = branch" not in chief.get("/account").text
