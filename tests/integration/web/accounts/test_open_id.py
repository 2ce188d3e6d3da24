"""Signing in with a certified OpenID provider, in a process of its own."""

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qs, urlsplit

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import select

from backend.config import Settings
from backend.db.models import AuditEntry, UserAccount, UserIdentity
from backend.web.accounts.open_id_page import ATTEMPT_COOKIE, CALLBACK
from backend.web.app import create_app
from tests.factories.accounts import OWN, PASSWORD, Team, cookie_of, is_signed_in
from tests.factories.openid_provider import INSTALLED, provider, sign_in_at
from tests.factories.records import World

pytestmark = pytest.mark.skipif(not INSTALLED, reason="needs the npm package oidc-provider (make setup)")
SECRET = "a-secret-of-the-client-0123456789"
BACK = f"{OWN}{CALLBACK}"
CLIENTS = [
    {
        "client_id": "deskarena",
        "client_secret": SECRET,
        "redirect_uris": [BACK],
        "scope": "openid profile email groups",
    },
    {
        "client_id": "public",
        "token_endpoint_auth_method": "none",
        "redirect_uris": [BACK],
        "scope": "openid email",
    },
]
PEOPLE = {
    "ada": {"email": "Ada@example.org", "email_verified": True, "groups": ["ml-team", "everybody"]},
    "bob": {"email": "bob@example.org", "email_verified": False},
    "eve": {"email": "ada@example.org", "email_verified": True},
    "zoe": {"email": "zoe@example.org", "email_verified": True, "groups": ["chiefs"]},
}


@pytest.fixture(scope="module")
def issuer() -> Iterator[str]:
    with provider(CLIENTS, PEOPLE) as address:
        yield address


@contextmanager
def installed(made: World, folder: Path, issuer: str, **settings: Any) -> Iterator[Team]:
    own = {"oidc_client_secret": SecretStr(SECRET), "oidc_scopes": ("openid", "email", "groups"), **settings}
    app = create_app(Settings(data_dir=folder, accounts=True, oidc_issuer=issuer, **own), made.factory, made.store)
    yield Team(made, app)


def begun(browser: TestClient, following: str = "/runs") -> str:
    """The provider's address, to which the service sends a browser."""
    answer = browser.get("/login/oidc", params={"next": following})
    assert answer.status_code == 303, answer.text
    return str(answer.headers["location"])


def signed_in(browser: TestClient, name: str) -> Any:
    """The answer to a browser that comes back from the provider."""
    return browser.get(sign_in_at(begun(browser), name, BACK))


class TestCodeFlow:
    def test_a_person_signs_in_and_sees_the_page_that_they_came_for(
        self, installation: World, tmp_path: Path, issuer: str
    ) -> None:
        roles = {"ml-team": {"default": "runner"}, "everybody": {"default": "viewer", "absent": "admin"}}
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create", oidc_roles=roles) as people:
            browser = people.browser()
            assert "Sign in with 127.0.0.1" in browser.get("/login").text
            answer = signed_in(browser, "ada")
            assert answer.status_code == 200, answer.text
            # Not a redirect: along a chain from another site a strict cookie would not be sent.
            assert answer.headers["refresh"] == "0;url=/runs"
            assert "SameSite=strict" in answer.headers["set-cookie"]
            assert ATTEMPT_COOKIE not in browser.cookies
            assert is_signed_in(browser)
            assert "ada@example.org" in browser.get("/account").text
            run = {"benchmark": "starter", "agent": "noop"}
            assert browser.post("/api/v1/runs", json=run).status_code == 201
            assert is_signed_in(people.browser()) is False
            again = people.browser()
            signed_in(again, "ada")
            assert is_signed_in(again)
            with people.made.work() as session:
                assert session.scalars(select(UserIdentity.subject)).all() == ["ada"]
                actions = session.scalars(select(AuditEntry.action).order_by(AuditEntry.id)).all()
                changes = session.scalars(select(AuditEntry.changes).where(AuditEntry.action == "roles_from_groups"))
                assert changes.one() == {"default": [None, "runner"]}
            assert [one for one in actions if "run" not in one] == [
                "person_added",
                "identity_linked",
                "roles_from_groups",
                "sign_in",
                "sign_in",
            ]

    def test_a_public_client_proves_itself_by_pkce_only(self, installation: World, tmp_path: Path, issuer: str) -> None:
        settings = {"oidc_client_id": "public", "oidc_client_secret": None, "oidc_scopes": ("openid", "email")}
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create", **settings) as people:
            browser = people.browser()
            asked = parse_qs(urlsplit(begun(browser)).query)
            assert asked["code_challenge_method"] == ["S256"]
            assert {len(asked[name][0]) for name in ("state", "nonce", "code_challenge")} == {43}
            signed_in(browser, "zoe")
            assert is_signed_in(browser)

    def test_response_is_accepted_once_and_only_in_its_browser(
        self, installation: World, tmp_path: Path, issuer: str
    ) -> None:
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create") as people:
            browser, thief, victim = people.browser(), people.browser(), people.browser()
            back = sign_in_at(begun(browser), "ada", BACK)
            begun(victim)
            for other in (thief, victim):  # Login CSRF: somebody else's answer.
                answer = other.get(back)
                assert (answer.status_code, is_signed_in(other)) == (403, False)
            kept = browser.cookies.get(ATTEMPT_COOKIE)
            assert browser.get(f"{back}&iss=https://evil.example.org").status_code == 403
            browser.cookies.set(ATTEMPT_COOKIE, kept or "")
            assert browser.get(back).status_code == 200
            thief.cookies.set(ATTEMPT_COOKIE, kept or "")
            assert thief.get(back).status_code == 403  # The code was used.
            assert not is_signed_in(thief)

    @pytest.mark.parametrize(
        "elsewhere", ["https://evil.example.org", "//evil.example.org", "/\\evil.example.org", "javascript:alert(1)"]
    )
    def test_sign_in_does_not_redirect_to_another_site(
        self, installation: World, tmp_path: Path, issuer: str, elsewhere: str
    ) -> None:
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create") as people:
            browser = people.browser()
            begin = browser.get("/login/oidc", params={"next": elsewhere})
            answer = browser.get(sign_in_at(begin.headers["location"], "ada", BACK))
            assert (answer.status_code, answer.headers["refresh"]) == (200, "0;url=/")
            people.add("bob")
            body = {"name": "bob", "password": PASSWORD, "next": elsewhere}
            assert people.browser().post("/login", data=body).headers["location"] == "/"

    def test_wrong_client_secret_is_reported_and_audited(
        self, installation: World, tmp_path: Path, issuer: str, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        secret = tmp_path / "secret"
        secret.write_text("another")
        monkeypatch.setenv("DESKARENA_OIDC_CLIENT_SECRET_FILE", str(secret))
        settings = {"oidc_client_secret": SecretStr("another"), "oidc_first_sign_in": "create"}
        with installed(installation, tmp_path, issuer, **settings) as people:
            browser = people.browser()
            answer = signed_in(browser, "ada")
            assert answer.status_code == 403
            assert "invalid_client" in answer.text
            assert "Not signed in" in answer.text
            begun(browser)
            state = parse_qs(urlsplit(begun(browser)).query)["state"][0]
            refused = browser.get(CALLBACK, params={"state": state, "error": "<b>access_denied"})
            assert "&lt;b&gt;access_denied" in refused.text
            with people.made.work() as session:
                entries = session.scalars(select(AuditEntry.action)).all()
            assert entries == ["sign_in_failed"] * 2
            secret.write_text(SECRET)
            assert signed_in(browser, "ada").status_code == 200
            assert is_signed_in(browser)

    def test_unavailable_provider_gives_503(self, installation: World, tmp_path: Path) -> None:
        with installed(installation, tmp_path, "http://127.0.0.1:9") as people:
            answer = people.browser().get("/login/oidc")
            assert answer.status_code == 503
            assert "does not answer" in answer.text


class TestWhoseAccount:
    def test_unknown_people_are_refused_by_default(self, installation: World, tmp_path: Path, issuer: str) -> None:
        with installed(installation, tmp_path, issuer) as people:
            people.add("ada@example.org", "viewer")
            browser = people.browser()
            assert signed_in(browser, "ada").status_code == 403
            assert not is_signed_in(browser)

    def test_links_by_verified_address_only_and_once(self, installation: World, tmp_path: Path, issuer: str) -> None:
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="link") as people:
            people.add("ada@example.org", "runner")
            people.add("bob@example.org", "admin")
            for name in ("bob", "zoe"):  # Not verified; no account.
                assert signed_in(people.browser(), name).status_code == 403
            browser = people.browser()
            assert signed_in(browser, "ada").status_code == 200
            assert "ada@example.org" in browser.get("/account").text
            assert signed_in(people.browser(), "eve").status_code == 403  # The address was given to somebody else.
            with people.made.work() as session:
                assert len(session.scalars(select(UserAccount)).all()) == 2

    def test_roles_and_administrators_follow_the_groups(self, installation: World, tmp_path: Path, issuer: str) -> None:
        settings: dict[str, Any] = {"oidc_first_sign_in": "link", "oidc_admins": ("chiefs",)}
        with installed(installation, tmp_path, issuer, **settings) as people:
            people.add("ada@example.org", "admin", admin=True)
            people.add("zoe@example.org", None)
            ada, zoe = people.browser(), people.browser()
            signed_in(ada, "ada")
            assert ada.get("/people").status_code == 200  # Nobody else administers the installation yet.
            signed_in(zoe, "zoe")
            assert zoe.get("/people").status_code == 200
            signed_in(ada, "ada")
            assert ada.get("/people").status_code == 403
        settings["oidc_roles"] = {"chiefs": {"default": "viewer"}}
        with installed(installation, tmp_path, issuer, **settings) as people:
            ada = people.browser()
            signed_in(ada, "ada")  # None of her groups has a role in the project.
            assert ada.get("/api/v1/runs").json()["code"] == "role_required"

    def test_a_disabled_person_stays_out(self, installation: World, tmp_path: Path, issuer: str) -> None:
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create") as people:
            boss = people.add("boss", None, admin=True)
            browser = people.browser()
            signed_in(browser, "zoe")
            boss.patch("/api/v1/people/zoe@example.org", json={"enabled": False})
            assert not is_signed_in(browser)
            assert signed_in(browser, "zoe").status_code == 403
            assert not is_signed_in(browser)

    def test_the_earlier_session_of_the_browser_ends(self, installation: World, tmp_path: Path, issuer: str) -> None:
        with installed(installation, tmp_path, issuer, oidc_first_sign_in="create") as people:
            browser = people.add("carl", "viewer")
            old = cookie_of(browser)
            signed_in(browser, "zoe")
            assert cookie_of(browser) != old
            thief = people.browser()
            thief.cookies.set("deskarena_session", old)
            assert not is_signed_in(thief)


def test_page_is_absent_without_a_provider(installation: World, tmp_path: Path) -> None:
    with installed(installation, tmp_path, "") as people:
        browser = people.browser()
        assert (browser.get("/login/oidc").status_code, browser.get(CALLBACK).status_code) == (404, 404)
        assert "Sign in with" not in browser.get("/login").text
        assert PASSWORD  # People still sign in with theirs.
