"""Public links: one view of a board for everybody who has the address, until it ends; nothing else opens with it."""

import re
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr
from sqlalchemy import select, update

from backend.config import Settings
from backend.db.models import PublicLink
from backend.web import api_routes, page_routes, socket_routes
from backend.web.accounts.open_id_page import CALLBACK, START
from backend.web.app import create_app
from backend.web.security_middleware import EXCHANGE_PATH, is_open
from tests.factories.records import World
from tests.factories.team_board import team_installation
from tests.integration.web.conftest import client_to

PAGE = {"Accept": "text/html"}
BOARD = "/leaderboards/starter"
LINKS = "/api/v1/public-links"
OWNER = {"Authorization": "Bearer s3cret-of-16-chars"}
FRAMES = ("https://wiki.example.org", "https://*.example.com")


@pytest.fixture(scope="module")
def team(postgres_server: str) -> Iterator[World]:
    with team_installation(postgres_server) as installation:
        yield installation


def visitors(team: World, folder: pytest.TempPathFactory, **more: object) -> TestClient:
    """A client of a service with a token, which it does not have."""
    settings = Settings(data_dir=folder.mktemp("data"), token=SecretStr("s3cret-of-16-chars"), **more)  # type: ignore[arg-type]
    return client_to(create_app(settings, team.factory, team.store))


@pytest.fixture(scope="module")
def visitor(team: World, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    return visitors(team, tmp_path_factory)


@pytest.fixture(scope="module")
def framed(team: World, tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    """The same of a service whose boards other sites may show."""
    return visitors(team, tmp_path_factory, embed_origins=FRAMES)


def created(client: TestClient, **query: object) -> dict[str, str]:
    answer = client.post(LINKS, json={"benchmark": "starter", "query": query, "title": "for the paper"}, headers=OWNER)
    assert answer.status_code == 201, answer.text
    link: dict[str, str] = answer.json()
    return link


def addresses(text: str) -> set[str]:
    """Every address of this service that a page names."""
    return set(re.findall(r'(?:href|src|action|formaction|data-[\w-]+)="(/[^"]*)"', text))


def private_addresses(text: str, own: str) -> set[str]:
    """Addresses on a page besides its own in another order, and static files."""
    return {each for each in addresses(text) if not each.startswith(("/static/", f"{own}?", f"{own}#"))}


class TestView:
    def test_shows_the_view_without_the_token(self, visitor: TestClient) -> None:
        link = created(visitor, sort="steps", column=["steps"])
        page = visitor.get(link["address"], headers=PAGE)
        assert page.status_code == 200
        ranked = page.text.split('id="ranked"')[1].split("</section>")[0]
        assert re.findall(r'<b class="rank">(\d)</b>', ranked) == ["2", "1"]  # By steps.
        assert ">Success rate</th>" not in ranked
        assert len(re.findall(r"data-reason=", page.text)) == 9
        assert page.headers["cache-control"] == "private, no-cache"

    def test_has_no_link_into_the_installation(self, visitor: TestClient) -> None:
        own = created(visitor, common=True)["address"]
        page = visitor.get(own, headers=PAGE).text
        assert addresses(page)
        assert private_addresses(page, own) == set()
        assert "<form" not in page

    def test_every_address_on_it_opens_without_the_token(self, visitor: TestClient) -> None:
        page = visitor.get(created(visitor)["address"], headers=PAGE).text
        assert {visitor.get(each).status_code for each in addresses(page)} == {200}


class TestBoundary:
    def test_the_token_opens_nothing_else(self, visitor: TestClient) -> None:
        token = created(visitor)["token"]
        ways = ({"Authorization": f"Bearer {token}"}, {"Cookie": f"deskarena_session={token}"})
        for address in (BOARD, f"/api/v1{BOARD}", "/runs", LINKS, f"{BOARD}/sharing", "/metrics", "/docs/"):
            assert [visitor.get(address, headers=headers).status_code for headers in ways] == [401, 401]

    @pytest.mark.parametrize(
        "way", ["/public/{}/../../runs", "/public/{}/runs", "/public/", "/public/%2e%2e/runs", "/embed/{}/x"]
    )
    def test_link_opens_no_other_address(self, visitor: TestClient, way: str) -> None:
        token = created(visitor)["token"]
        assert visitor.get(way.format(token), headers=PAGE).status_code in {303, 401, 404}

    def test_link_is_read_only(self, visitor: TestClient) -> None:
        address = created(visitor)["address"]
        assert {visitor.request(method, address).status_code for method in ("POST", "PUT", "PATCH", "DELETE")} == {405}

    def test_only_these_routes_are_open(self) -> None:
        routers = (*api_routes.ROUTERS, *page_routes.ROUTERS, *socket_routes.ROUTERS)
        paths = {str(getattr(route, "path", "")) for router in routers for route in router.routes}
        opened = {path for path in paths if is_open(path) and not path.startswith("/api/v1/agent")}
        badge = "/public/{token}/badge/{configuration_id}.svg"
        health = {"/healthz", "/livez", "/readyz", "/status", "/api/v1/status"}
        links = {"/public/{token}", "/embed/{token}", "/join/{token}", badge}
        assert opened == {*health, "/login", START, CALLBACK, EXCHANGE_PATH} | links

    def test_the_database_has_no_token(self, visitor: TestClient, team: World) -> None:
        token = created(visitor)["token"]
        with team.work() as session:
            rows = session.execute(select(PublicLink.__table__)).all()
        assert not [row for row in rows if token in str(row)]
        assert len(token) >= 43
        assert "token" not in visitor.get(LINKS, headers=OWNER).json()["items"][0]


class TestEnd:
    def end(self, team: World, link: dict[str, str], **values: datetime) -> None:
        with team.work() as session:
            session.execute(update(PublicLink).where(PublicLink.id == link["id"]).values(**values))

    def test_unknown_link_is_404(self, visitor: TestClient) -> None:
        answer = visitor.get("/public/nothing")
        assert (answer.status_code, answer.json()["code"]) == (404, "public_link_not_found")

    def test_expired_link_is_gone(self, visitor: TestClient, team: World) -> None:
        link = created(visitor)
        self.end(team, link, expires_at=datetime.now(UTC) - timedelta(seconds=1))
        answer = visitor.get(link["address"])
        assert (answer.status_code, answer.json()["code"]) == (410, "public_link_expired")
        listed = visitor.get(f"{LINKS}/{link['id']}", headers=OWNER).json()
        assert listed["state"] == "expired"

    def test_revoked_link_is_gone_immediately(self, visitor: TestClient) -> None:
        link = created(visitor)
        assert visitor.get(link["address"]).status_code == 200
        ends = [visitor.delete(f"{LINKS}/{link['id']}", headers=OWNER).json()["revoked_at"] for _ in range(2)]
        assert ends[0] == ends[1]
        answer = visitor.get(link["address"])
        assert (answer.status_code, answer.json()["code"]) == (410, "public_link_revoked")

    def test_error_page_links_nowhere(self, visitor: TestClient) -> None:
        page = visitor.get("/public/nothing", headers=PAGE)
        assert page.status_code == 404
        assert private_addresses(page.text, "/public/nothing") == set()

    @pytest.mark.parametrize("days", [0, 367])
    def test_link_lifetime_is_bounded(self, visitor: TestClient, days: int) -> None:
        answer = visitor.post(LINKS, json={"benchmark": "starter", "days": days}, headers=OWNER)
        assert answer.status_code == 422


class TestForms:
    def test_a_link_is_shown_once_and_then_listed(self, visitor: TestClient) -> None:
        form = {"query": "sort=steps", "days": "7", "title": "seven days"}
        page = visitor.post(f"{BOARD}/links", data=form, headers={**OWNER, **PAGE})
        assert page.status_code == 200
        address = re.findall(r"http://127\.0\.0\.1:8000(/public/[\w-]+)", page.text)[0]
        assert visitor.get(address).status_code == 200
        again = visitor.get(f"{BOARD}/sharing", headers={**OWNER, **PAGE}).text
        assert address not in again
        assert "seven days" in again
        link = visitor.get(LINKS, headers=OWNER).json()["items"][0]
        assert visitor.post(f"{BOARD}/links/{link['id']}/revoke", headers=OWNER).status_code == 303
        assert visitor.get(address).status_code == 410

    @pytest.mark.parametrize("form", [{"days": "many"}, {"days": "0"}, {"query": "cost=euros"}, {"title": "a\nb"}])
    def test_a_wrong_form_creates_none(self, visitor: TestClient, form: dict[str, str]) -> None:
        before = len(visitor.get(LINKS, headers=OWNER).json()["items"])
        answer = visitor.post(f"{BOARD}/links", data=form, headers={**OWNER, **PAGE})
        assert (answer.status_code, 'role="alert"' in answer.text) == (422, True)
        assert len(visitor.get(LINKS, headers=OWNER).json()["items"]) == before


class TestFrames:
    def test_boards_cannot_be_framed_by_default(self, visitor: TestClient) -> None:
        answer = visitor.get(created(visitor)["embed_address"])
        assert (answer.status_code, answer.json()["code"]) == (403, "embedding_not_allowed")
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"

    def test_the_named_sites_may(self, framed: TestClient) -> None:
        link = created(framed)
        page = framed.get(link["embed_address"], headers=PAGE)
        assert page.status_code == 200
        assert page.headers["content-security-policy"].endswith(f"frame-ancestors {' '.join(FRAMES)}")
        assert "x-frame-options" not in page.headers
        assert '<header class="topbar">' not in page.text
        assert 'data-theme="dark"' in framed.get(f"{link['embed_address']}?theme=dark", headers=PAGE).text
        assert private_addresses(page.text, link["embed_address"]) == set()

    def test_ended_link_is_reported_in_the_frame(self, framed: TestClient) -> None:
        answer = framed.get("/embed/nothing", headers=PAGE)
        assert (answer.status_code, "x-frame-options" in answer.headers) == (404, False)

    @pytest.mark.parametrize("address", ["/public/nothing", BOARD, "/login"])
    def test_other_pages_cannot_be_framed(self, framed: TestClient, address: str) -> None:
        answer = framed.get(address)
        assert "frame-ancestors 'none'" in answer.headers["content-security-policy"]
        assert answer.headers["x-frame-options"] == "DENY"

    @pytest.mark.parametrize(
        "origin", ["*", "https://a.example; script-src *", "wiki.example.org", "https://a.example/x"]
    )
    def test_invalid_embed_origin_is_refused(self, origin: str) -> None:
        with pytest.raises(ValueError, match="embed_origins"):
            Settings(embed_origins=(origin,))
