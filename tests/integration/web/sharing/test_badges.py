"""Badges of rows: for people of the installation, and of a public link for any page."""

import re
from collections.abc import Iterator
from typing import Any
from uuid import uuid4

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from backend.config import Settings
from backend.web.app import create_app
from tests.factories.team_board import team_installation
from tests.integration.web.conftest import client_to

OWNER = {"Authorization": "Bearer s3cret-of-16-chars"}
BOARD = "/api/v1/leaderboards/starter"


@pytest.fixture(scope="module")
def client(postgres_server: str, tmp_path_factory: pytest.TempPathFactory) -> Iterator[TestClient]:
    with team_installation(postgres_server) as team:
        settings = Settings(data_dir=tmp_path_factory.mktemp("data"), token=SecretStr("s3cret-of-16-chars"))
        yield client_to(create_app(settings, team.factory, team.store))


def texts(picture: str) -> list[str]:
    return re.findall(r"<text[^>]*>([^<]*)</text>", picture)


@pytest.fixture(scope="module")
def rows(client: TestClient) -> list[dict[str, Any]]:
    board = client.get(BOARD, headers=OWNER).json()
    return [row for row in board["rows"] if row["conditions"]["key"] == board["conditions"]["key"]]


class TestOwn:
    def test_has_rank_and_score(self, client: TestClient, rows: list[dict[str, Any]]) -> None:
        first = rows[0]
        answer = client.get(f"/badge/starter/{first['configuration']['id']}.svg", headers=OWNER)
        assert answer.headers["content-type"].startswith("image/svg+xml")
        low, high = (100 * end for end in first["primary"]["interval"])
        assert texts(answer.text) == ["starter", f"#1 · 68.0 % ({low:.1f}\u2013{high:.1f})"]

    def test_unranked_badge_shows_the_reason(self, client: TestClient, rows: list[dict[str, Any]]) -> None:
        reasons = {row["reasons"][0]["text"] for row in rows if row["reasons"]}
        shown = {
            texts(client.get(f"/badge/starter/{row['configuration']['id']}.svg", headers=OWNER).text)[1]
            for row in rows
            if row["reasons"]
        }
        assert shown == {f"not ranked: {reason}" for reason in reasons}

    @pytest.mark.parametrize(("show", "text"), [("rank", "#1"), ("score", "68.0 % (")])
    def test_badge_can_show_one_figure(
        self, client: TestClient, rows: list[dict[str, Any]], show: str, text: str
    ) -> None:
        address = f"/badge/starter/{rows[0]['configuration']['id']}.svg?show={show}"
        assert texts(client.get(address, headers=OWNER).text)[1].startswith(text)

    def test_badge_requires_the_token(self, client: TestClient, rows: list[dict[str, Any]]) -> None:
        assert client.get(f"/badge/starter/{rows[0]['configuration']['id']}.svg").status_code == 401

    def test_badge_has_an_etag(self, client: TestClient, rows: list[dict[str, Any]]) -> None:
        address = f"/badge/starter/{rows[0]['configuration']['id']}.svg"
        first = client.get(address, headers=OWNER)
        assert "max-age=300" in first.headers["cache-control"]
        again = client.get(address, headers={**OWNER, "If-None-Match": f'"other", W/{first.headers["etag"]}'})
        assert (again.status_code, again.content, again.headers["etag"]) == (304, b"", first.headers["etag"])
        assert client.get(address, headers={**OWNER, "If-None-Match": '"other"'}).status_code == 200


class TestPublic:
    def test_badge_ends_with_its_link(self, client: TestClient, rows: list[dict[str, Any]]) -> None:
        body = {"benchmark": "starter", "query": {"common": True}}
        link = client.post("/api/v1/public-links", json=body, headers=OWNER).json()
        address = f"{link['address']}/badge/{rows[0]['configuration']['id']}.svg"
        answer = client.get(address)
        assert answer.status_code == 200
        assert "100.0 %" in texts(answer.text)[1]  # On the common tasks.
        assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
        assert answer.headers["cache-control"].startswith("public")
        assert client.get(f"{link['address']}/badge/{uuid4()}.svg").json()["code"] == "configuration_not_on_board"
        client.delete(f"/api/v1/public-links/{link['id']}", headers=OWNER)
        assert client.get(address).status_code == 410
