"""Files of the web that tasks need, over the API: fetched from a server of the test's own."""

from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient

from backend.config import Settings
from backend.web.app import create_app
from tests.factories.downloads import downloading
from tests.factories.records import World
from tests.factories.tasks import make_benchmark
from tests.fakes.origin_server import OriginServer, origin, redirect, reply
from tests.integration.web.conftest import OWN

PAGE = b"<!DOCTYPE html><html><body>Not here.</body></html>"
POINTER = b"version https://git-lfs.github.com/spec/v1\noid sha256:0\n"


@pytest.fixture
def site() -> Iterator[OriginServer]:
    with origin() as found:
        yield found


@pytest.fixture
def urls(site: OriginServer) -> dict[str, str]:
    """Address by name: `a` and `b` are good files."""
    site.pages |= {"/a.xlsx": reply(b"table", "application/zip"), "/b.txt": b"text"}
    site.pages |= {"/page.xlsx": reply(PAGE, "text/html"), "/empty": b"", "/pointer.png": POINTER}
    site.pages |= {"/page.html": reply(PAGE, "text/html"), "/led": redirect("/a.xlsx"), "/busy": reply(b"", status=503)}
    names = ("a.xlsx", "b.txt", "page.xlsx", "empty", "pointer.png", "page.html", "led", "busy", "gone")
    return {name: f"{site.address}/{name}" for name in names}


@pytest.fixture
def client(installation: World, urls: dict[str, str], tmp_path: Path) -> TestClient:
    """A service with a benchmark whose two tasks share a file."""
    one = downloading("one", urls["a.xlsx"], urls["b.txt"])
    two = downloading("two", *urls.values(), domain="more")
    installation.benchmark(make_benchmark(one, two, downloading("three")), name="mine")
    settings = Settings(data_dir=tmp_path, web_private_hosts=("127.0.0.1",))
    return TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)


def listed(client: TestClient, **params: Any) -> dict[str, Any]:
    answer = client.get("/api/v1/benchmarks/mine/assets", params=params)
    assert answer.status_code == 200, answer.text
    return {row["url"]: row for row in answer.json()["items"]}


def fetch(client: TestClient, url: str, **more: Any) -> tuple[int, dict[str, Any]]:
    answer = client.post("/api/v1/benchmarks/mine/assets/fetch", json={"url": url, **more})
    return answer.status_code, answer.json()


class TestList:
    def test_lists_each_file_once_with_its_tasks(self, client: TestClient, urls: dict[str, str]) -> None:
        found = listed(client)
        assert list(found) == list(urls.values())
        assert found[urls["a.xlsx"]]["tasks"] == ["files/one", "more/two"]
        assert {row["state"] for row in found.values()} == {"missing"}

    def test_filters_by_task(self, client: TestClient, urls: dict[str, str]) -> None:
        assert list(listed(client, tasks=["files/*"])) == [urls["a.xlsx"], urls["b.txt"]]

    def test_a_glob_that_matches_nothing(self, client: TestClient) -> None:
        answer = client.get("/api/v1/benchmarks/mine/assets", params={"tasks": "nowhere/*"})
        assert answer.status_code == 404

    def test_a_benchmark_without_any(self, client: TestClient) -> None:
        assert client.get("/api/v1/benchmarks/starter/assets").json()["items"] == []


class TestFetch:
    def test_file_is_fetched_and_stored(
        self, client: TestClient, installation: World, site: OriginServer, urls: dict[str, str]
    ) -> None:
        status, row = fetch(client, urls["a.xlsx"])
        assert (status, row["state"], row["size"], row["media_type"]) == (200, "stored", 5, "application/zip")
        assert installation.store.get(row["sha256"]) == b"table"
        assert fetch(client, urls["a.xlsx"])[1]["sha256"] == row["sha256"]
        assert len(site.asked) == 1
        assert client.get(f"/api/v1/artifacts/{row['sha256']}").content == b"table"

    def test_force_fetches_again(self, client: TestClient, site: OriginServer, urls: dict[str, str]) -> None:
        fetch(client, urls["b.txt"])
        site.pages["/b.txt"] = b"changed"
        assert fetch(client, urls["b.txt"], force=True)[1]["size"] == 7

    def test_redirect_target_is_recorded(self, client: TestClient, urls: dict[str, str]) -> None:
        assert fetch(client, urls["led"])[1]["source"] == urls["a.xlsx"]

    @pytest.mark.parametrize(
        ("name", "why"),
        [("gone", "status 404"), ("page.xlsx", "web page"), ("empty", "empty file"), ("pointer.png", "Git LFS")],
    )
    def test_content_of_another_type_is_refused(
        self, client: TestClient, urls: dict[str, str], name: str, why: str
    ) -> None:
        status, row = fetch(client, urls[name])
        assert (status, row["state"], row["sha256"]) == (200, "dead", None)
        assert why in row["problem"]
        assert listed(client)[urls[name]]["problem"] == row["problem"]

    def test_expected_html_page_is_stored(self, client: TestClient, urls: dict[str, str]) -> None:
        assert fetch(client, urls["page.html"])[1]["state"] == "stored"

    def test_busy_server_is_retried_and_not_marked_dead(
        self, client: TestClient, site: OriginServer, urls: dict[str, str]
    ) -> None:
        status, body = fetch(client, urls["busy"])
        assert (status, len(site.asked)) == (503, 3)
        assert "503" in body["detail"]
        assert listed(client)[urls["busy"]]["state"] == "missing"

    def test_a_dead_link_takes_nothing_away(self, client: TestClient, site: OriginServer, urls: dict[str, str]) -> None:
        before = fetch(client, urls["a.xlsx"])[1]
        del site.pages["/a.xlsx"]
        after = fetch(client, urls["a.xlsx"], force=True)[1]
        assert (after["state"], after["sha256"]) == ("stored", before["sha256"])
        assert "404" in after["problem"]

    def test_address_that_no_task_needs_is_not_fetched(self, client: TestClient, site: OriginServer) -> None:
        assert fetch(client, f"{site.address}/other")[0] == 404
        assert site.asked == []

    def test_private_network_address_is_refused(
        self, installation: World, urls: dict[str, str], client: TestClient, site: OriginServer, tmp_path: Path
    ) -> None:
        guarded = TestClient(
            create_app(Settings(data_dir=tmp_path), installation.factory, installation.store), base_url=OWN
        )
        row = fetch(guarded, urls["a.xlsx"])[1]
        assert row["state"] == "dead"
        assert "not on the public network" in row["problem"]
        assert site.asked == []

    def test_full_disk_gives_503(self, client: TestClient, installation: World, urls: dict[str, str]) -> None:
        installation.store.room = 2
        assert fetch(client, urls["a.xlsx"])[0] == 503


class TestAdd:
    def test_a_file_obtained_otherwise(self, client: TestClient, installation: World, urls: dict[str, str]) -> None:
        fetch(client, urls["gone"])
        answer = client.post(
            "/api/v1/benchmarks/mine/assets", data={"url": urls["gone"]}, files={"file": ("x", b"from a friend")}
        )
        row = answer.json()
        assert (answer.status_code, row["state"], row["source"], row["problem"]) == (201, "stored", "added", "")
        assert installation.store.get(row["sha256"]) == b"from a friend"

    @pytest.mark.parametrize(("url", "data", "status"), [("https://a.example/x", b"x", 404), ("", b"x", 422)])
    def test_invalid_uploads_are_refused(self, client: TestClient, url: str, data: bytes, status: int) -> None:
        answer = client.post("/api/v1/benchmarks/mine/assets", data={"url": url}, files={"file": ("x", data)})
        assert answer.status_code == status

    def test_empty_file_is_refused(self, client: TestClient, urls: dict[str, str]) -> None:
        answer = client.post("/api/v1/benchmarks/mine/assets", data={"url": urls["gone"]}, files={"file": ("x", b"")})
        assert answer.status_code == 422
