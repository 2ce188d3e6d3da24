"""Signing in, sessions, one-time links: what gets in, and what does not."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path
from typing import Any

import pytest
from sqlalchemy import func, select, update
from starlette.websockets import WebSocketDisconnect

from backend.db.models import AuditEntry, UserAccount, UserSession
from backend.services.accounts import users
from backend.services.accounts.sign_in import FREE_FAILURES, wait_seconds
from backend.web import security_middleware
from backend.web.accounts.authentication import announce_first_link
from backend.web.security_middleware import COOKIE
from tests.factories.accounts import LINK, PASSWORD, SERVICE, Team, cookie_of, is_signed_in, team
from tests.factories.records import World

NEW = "another horse battery"


@pytest.fixture
def people(installation: World, tmp_path: Path) -> Iterator[Team]:
    with team(installation, tmp_path) as made:
        yield made


def actions(people: Team) -> list[tuple[str, str]]:
    """Who did what, the oldest first."""
    with people.made.work() as session:
        return [(row.who, row.action) for row in session.scalars(select(AuditEntry).order_by(AuditEntry.id))]


class TestFirstStart:
    def test_a_link_lets_the_first_administrator_in_once(self, people: Team, tmp_path: Path) -> None:
        announce_first_link(people.app.state.edge)
        file = tmp_path / "first-sign-in"
        assert file.stat().st_mode & 0o777 == 0o600
        path = file.read_text().strip()
        announce_first_link(people.app.state.edge)  # Another process that starts at the same time.
        assert file.read_text().strip() == path
        browser = people.browser()
        assert "admin" in browser.get(path).text
        assert browser.post(path, data={"password": "short", "repeated": "short"}).status_code == 422
        assert browser.post(path, data={"password": PASSWORD, "repeated": NEW}).status_code == 422
        assert browser.post(path, data={"password": PASSWORD, "repeated": PASSWORD}).status_code == 303
        assert browser.get("/people").status_code == 200
        assert not file.exists()
        again = people.browser()
        assert (again.get(path).status_code, again.post(path, data={"password": NEW, "repeated": NEW}).status_code) == (
            410,
            410,
        )
        announce_first_link(people.app.state.edge)
        assert not file.exists()

    def test_new_link_invalidates_the_old_one(self, people: Team) -> None:
        first = people.made.do(users.first_link)
        with people.made.work() as session:
            session.execute(update(UserAccount).values(link_expires_at=func.now() - timedelta(hours=1)))
        assert people.browser().get(f"/join/{first}").status_code == 410
        second = people.made.do(users.first_link)
        assert people.browser().get(f"/join/{second}").status_code == 200


class TestSignIn:
    def test_sets_a_cookie_that_no_script_reads_and_leads_back(self, people: Team) -> None:
        people.add("ada")
        browser = people.browser()
        answer = browser.get("/runs?agent=x", headers={"Accept": "text/html"})
        assert answer.headers["location"] == "/login?next=/runs%3Fagent%3Dx"
        answer = browser.post("/login", data={"name": "Ada", "password": PASSWORD, "next": "/runs?agent=x"})
        assert (answer.status_code, answer.headers["location"]) == (303, "/runs?agent=x")
        assert {"HttpOnly", "SameSite=strict"} <= set(answer.headers["set-cookie"].split("; "))
        assert "ada" in browser.get("/runs").text

    @pytest.mark.parametrize(("name", "password"), [("ada", NEW), ("nobody", PASSWORD), ("", ""), ("ada", "x" * 500)])
    def test_a_wrong_pair_gets_one_and_the_same_answer(self, people: Team, name: str, password: str) -> None:
        people.add("ada")
        answer = people.browser().post("/login", data={"name": name, "password": password})
        assert answer.status_code == 401
        assert "Wrong name or password" in answer.text
        assert "set-cookie" not in answer.headers

    def test_sign_in_changes_the_session_id(self, people: Team) -> None:
        """Fixation: the id changes at sign-in, and the browser's earlier session ends."""
        eve, ada = people.add("eve"), people.add("ada")
        planted = cookie_of(eve)
        victim = people.browser()
        victim.cookies.set(COOKIE, planted, domain="127.0.0.1")
        victim.post("/login", data={"name": "ada", "password": PASSWORD})
        assert planted not in {cookie_of(victim), cookie_of(ada)}
        assert not is_signed_in(eve)
        forged = people.browser()
        forged.cookies.set(COOKIE, f"{planted[:-1]}0", domain="127.0.0.1")
        assert not is_signed_in(forged)

    def test_signing_out_ends_the_session_everywhere(self, people: Team) -> None:
        ada = people.add("ada")
        stolen = people.browser()
        stolen.cookies.set(COOKIE, cookie_of(ada), domain="127.0.0.1")
        assert is_signed_in(stolen)
        assert ada.post("/logout").headers["location"] == "/login"
        assert not is_signed_in(stolen)
        assert stolen.get("/api/v1/runs").status_code == 401

    def test_expired_session_is_signed_out(self, people: Team) -> None:
        ada = people.add("ada")
        with people.made.work() as session:
            session.execute(update(UserSession).values(expires_at=func.now()))
        assert not is_signed_in(ada)

    def test_only_hashes_are_stored(self, people: Team) -> None:
        ada = people.add("ada")
        with people.made.work() as session:
            user, opened = session.scalars(select(UserAccount)).one(), session.scalars(select(UserSession)).one()
            assert user.password_hash.startswith("$argon2id$")
            assert cookie_of(ada) not in str(vars(opened))
            assert PASSWORD not in str(vars(user))


class TestBruteForce:
    def test_after_five_failures_the_right_password_waits_too(self, people: Team) -> None:
        people.add("ada")
        for _ in range(FREE_FAILURES):
            people.sign_in("ada", NEW)
        assert not is_signed_in(people.sign_in("ada"))
        with people.made.work() as session:
            assert session.scalars(select(UserAccount.failed_sign_ins)).one() == FREE_FAILURES
            session.execute(update(UserAccount).values(locked_until=func.now() - timedelta(seconds=1)))
        assert is_signed_in(people.sign_in("ada"))
        with people.made.work() as session:
            assert session.scalars(select(UserAccount.failed_sign_ins)).one() == 0

    def test_the_wait_doubles_up_to_an_hour(self) -> None:
        assert [wait_seconds(failures) for failures in (4, 5, 6, 7, 50, 10**6)] == [0, 15, 30, 60, 3600, 3600]

    def test_failed_sign_ins_of_others_keep_a_session(self, people: Team) -> None:
        """A stranger's guesses lock nobody out of their work."""
        ada = people.add("ada")
        for _ in range(FREE_FAILURES):
            people.sign_in("ada", NEW)
        assert is_signed_in(ada)

    def test_a_stolen_session_cannot_guess_the_password(self, people: Team) -> None:
        ada = people.add("ada")
        for _ in range(FREE_FAILURES + 1):
            answer = ada.post("/account/password", data={"current": NEW, "password": NEW, "repeated": NEW})
            assert answer.status_code == 422
        right = {"current": PASSWORD, "password": NEW, "repeated": NEW}
        assert ada.post("/account/password", data=right).status_code == 422


class TestAccount:
    def test_a_new_password_ends_all_other_sessions(self, people: Team) -> None:
        ada = people.add("ada")
        other, before = people.sign_in("ada"), cookie_of(ada)
        answer = ada.post("/account/password", data={"current": PASSWORD, "password": NEW, "repeated": NEW})
        assert answer.status_code == 303
        assert (is_signed_in(ada), is_signed_in(other), cookie_of(ada) != before) == (True, False, True)
        assert not is_signed_in(people.sign_in("ada"))
        assert is_signed_in(people.sign_in("ada", NEW))

    def test_sessions_are_listed_and_ended(self, people: Team) -> None:
        ada, other = people.add("ada"), people.sign_in("ada")
        rows = ada.get("/api/v1/account/sessions").json()["items"]
        assert [row["address"] for row in rows] == ["198.51.100.7"] * 2
        (theirs,) = [row["id"] for row in rows if not row["current"]]
        assert "this one" in ada.get("/account").text
        assert ada.post(f"/account/sessions/{theirs}/end").status_code == 303
        assert (is_signed_in(ada), is_signed_in(other)) == (True, False)

    def test_sessions_of_others_cannot_be_ended(self, people: Team) -> None:
        ada, eve = people.add("ada"), people.add("eve")
        mine = ada.get("/api/v1/account/sessions").json()["items"][0]["id"]
        assert eve.delete(f"/api/v1/account/sessions/{mine}").status_code == 404
        assert is_signed_in(ada)


class TestPeople:
    def test_an_administrator_adds_changes_and_disables(self, people: Team) -> None:
        boss = people.add("boss", None, admin=True)
        page = boss.post("/people", data={"name": "Ada@example.org", "role": "runner"})
        (token,) = set(LINK.findall(page.text))
        ada = people.browser()
        ada.post(f"/join/{token}", data={"password": PASSWORD, "repeated": PASSWORD})
        assert ada.post("/api/v1/runs", json={}).status_code == 422
        answer = boss.patch("/api/v1/people/ada@example.org", json={"role": "viewer"}).json()
        assert (answer["roles"], answer["has_password"]) == ({"default": "viewer"}, True)
        assert ada.post("/api/v1/runs", json={}).json()["code"] == "role_required"
        boss.post("/people/ada@example.org", data={"enabled": "false"})
        assert not is_signed_in(ada)
        assert not is_signed_in(people.sign_in("ada@example.org"))
        assert boss.post("/people", data={"name": "ada@example.org"}).status_code == 409
        assert boss.post("/people", data={"name": "A b"}).status_code == 422

    def test_the_last_administrator_stays(self, people: Team) -> None:
        boss = people.add("boss", None, admin=True)
        for changes in ({"admin": False}, {"enabled": False}):
            assert boss.patch("/api/v1/people/boss", json=changes).json()["code"] == "last_admin"

    def test_a_new_link_replaces_password_and_sessions(self, people: Team) -> None:
        boss, ada = people.add("boss", None, admin=True), people.add("ada")
        link = boss.post("/api/v1/people/ada/link").json()["address"]
        assert is_signed_in(ada)
        path = link.removeprefix("http://127.0.0.1:8000")
        assert people.browser().post(path, data={"password": NEW, "repeated": NEW}).status_code == 303
        assert not is_signed_in(ada)
        assert is_signed_in(people.sign_in("ada", NEW))

    def test_request_fields_cannot_grant_administration(self, people: Team) -> None:
        """Mass assignment: forms and bodies have only the fields that they name."""
        ada = people.add("ada")
        data = {"current": PASSWORD, "password": NEW, "repeated": NEW, "admin": "true", "role": "admin"}
        assert ada.post("/account/password", data=data).status_code == 303
        assert ada.get("/people").status_code == 403
        token = people.made.do(users.add_person, "eve")
        data = {"password": PASSWORD, "repeated": PASSWORD, "admin": "true", "name": "ada"}
        people.browser().post(f"/join/{token}", data=data)
        assert people.sign_in("eve").get("/people").status_code == 403
        boss = people.add("boss", None, admin=True)
        body = {"name": "mallory", "password_hash": "x"}
        assert boss.post("/api/v1/people", json=body).status_code == 422


class TestPrograms:
    def test_the_installations_token_still_works_for_programs(self, people: Team) -> None:
        program = people.browser()
        program.headers["Authorization"] = f"Bearer {SERVICE}"
        assert program.get("/api/v1/runs").status_code == 200
        program.headers["Authorization"] = "Bearer wrong"
        assert program.get("/api/v1/runs").json()["code"] == "sign_in_required"

    def test_token_does_not_sign_in_a_browser(self, people: Team) -> None:
        assert people.browser().post("/login", data={"token": SERVICE}).status_code == 401

    def test_a_socket_needs_a_session(self, people: Team) -> None:
        with pytest.raises(WebSocketDisconnect), people.browser().websocket_connect("ws://127.0.0.1:8000/ws/events"):
            pass
        with people.add("ada").websocket_connect("ws://127.0.0.1:8000/ws/events") as socket:
            assert socket.accepted_subprotocol is None

    def test_an_open_socket_ends_with_its_session(self, people: Team, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(security_middleware, "RECHECK_SECONDS", 0.0)
        ada = people.add("ada")
        with ada.websocket_connect("ws://127.0.0.1:8000/ws/events") as socket:
            people.made.submit()
            assert socket.receive_json()["kind"] == "changed"
            ada.post("/logout")
            people.made.submit()
            with pytest.raises(WebSocketDisconnect) as closed:
                socket.receive_json()
        assert closed.value.code == 1008


class TestAuditLog:
    def test_records_actor_action_origin_and_changes(self, people: Team) -> None:
        boss, ada = people.add("boss", None, admin=True), people.add("ada", "maintainer")
        people.sign_in("ada", NEW)
        boss.patch("/api/v1/people/ada", json={"role": "runner"})
        boss.patch("/api/v1/projects/default", json={"weight": 2.0})
        rows = boss.get("/api/v1/audit-log").json()["items"]
        assert [(row["who"], row["action"]) for row in rows[:3]] == [
            ("boss", "PATCH /api/v1/projects/{name}"),
            ("boss", "person_changed"),
            ("", "sign_in_failed"),
        ]
        assert rows[0]["changes"] == {"project.weight": [1.0, 2.0]}
        assert (rows[0]["target"], rows[0]["address"]) == ("/api/v1/projects/default", "198.51.100.7")
        assert rows[1]["changes"] == {"role": ["maintainer", "runner"]}
        assert "person_changed" in boss.get("/audit-log").text
        assert "person_changed" in boss.get("/audit-log.csv").text
        assert ada.get("/audit-log").status_code == 403

    def test_records_bulk_changes(self, people: Team) -> None:
        boss = people.add("boss", None, admin=True)

        def changes() -> Any:
            return boss.get("/api/v1/audit-log").json()["items"][0]["changes"]

        for seats in (2, 3):
            assert boss.post("/api/v1/licences", json={"name": "office", "seats": seats}).status_code < 300
        assert changes()["licence.seats"] == [2, 3]
        run = people.made.submit()
        assert boss.post(f"/api/v1/runs/{run.id}/cancel").status_code == 200
        states = {name: pair for name, pair in changes().items() if name.startswith("episode[")}
        assert len({name for name in states if name.endswith(".state")}) == 3
        assert ["waiting", "cancelled"] in states.values()
        view = boss.post("/api/v1/saved-views", json={"benchmark": "starter", "name": "mine"}).json()["id"]
        assert boss.delete(f"/api/v1/saved-views/{view}").status_code == 204
        assert changes() == {"saved_view.id": [view, None]}

    def test_omits_secrets_and_failed_requests(self, people: Team) -> None:
        ada = people.add("ada", "runner")
        ada.post("/api/v1/runs", json={"benchmark": "none", "agent": "noop"})
        assert actions(people) == [("local", "person_added"), ("ada", "password_set_by_link"), ("ada", "sign_in")]
        with people.made.work() as session:
            texts = [str(vars(row)) for row in session.scalars(select(AuditEntry))]
        assert [text for text in texts if PASSWORD in text or cookie_of(ada) in text or "argon2" in text] == []
