"""The semantics of HTTP: HEAD, OPTIONS, conditional changes, lists as lines, waiting, limits."""

import json
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any
from uuid import UUID

import pytest
from fastapi.testclient import TestClient

from backend.config import Settings
from backend.services.runs import runs as run_service
from backend.web.app import create_app
from tests.factories.accounts import team
from tests.factories.drafts import make_content
from tests.factories.records import World
from tests.factories.scene import PageScene
from tests.integration.web.conftest import client_to
from tests.waiting import until

BODY = {"benchmark": "starter", "agent": "noop", "name": "nightly"}
LINES = {"Accept": "application/x-ndjson"}


class TestMethods:
    @pytest.mark.parametrize(
        "path", ["/api/v1/runs", "/api/v1/runs/{run}", "/api/v1/runs/{run}/export", "/published", "/docs/api.html"]
    )
    def test_head_is_get_without_its_body(self, client: TestClient, scene: PageScene, path: str) -> None:
        address = path.format(run=scene.finished)
        get, head = client.get(address), client.head(address)
        assert (head.status_code, head.content) == (get.status_code, b"")
        assert {name: head.headers.get(name) for name in ("content-type", "etag", "content-length")} == {
            name: get.headers.get(name) for name in ("content-type", "etag", "content-length")
        }

    def test_head_of_a_stream_ends(self, client: TestClient, scene: PageScene) -> None:
        accept = {"Accept": "text/event-stream"}
        assert client.head(f"/api/v1/runs/{scene.live}/events", headers=accept).status_code == 200

    def test_options_names_the_methods(self, client: TestClient, scene: PageScene) -> None:
        for path, methods in (("/api/v1/runs", "GET, HEAD, OPTIONS, POST"), ("/workers", "GET, HEAD, OPTIONS")):
            answer = client.options(path)
            assert (answer.status_code, answer.headers["allow"], answer.content) == (204, methods, b"")
        assert client.options("/api/v1/nothing").status_code == 404


class TestLines:
    def test_json_lines_stream_the_whole_list(
        self, client: TestClient, scene: PageScene, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr("backend.web.json_lines.PAGE_SIZE", 2)
        path = f"/api/v1/runs/{scene.finished}/episodes"
        answer = client.get(path, headers=LINES)
        assert answer.headers["content-type"] == "application/x-ndjson"
        rows = [json.loads(line) for line in answer.text.splitlines()]
        listed = client.get(path, params={"limit": 500}).json()["items"]
        assert [row["id"] for row in rows] == [row["id"] for row in listed]
        assert len(rows) > 2
        assert len(client.get(path, params={"limit": 1}, headers=LINES).text.splitlines()) == 1

    def test_errors_are_as_ever(self, client: TestClient) -> None:
        answer = client.get("/api/v1/runs", params={"status": "odd"}, headers=LINES)
        assert (answer.status_code, answer.headers["content-type"]) == (422, "application/problem+json")

    def test_a_list_without_items_has_no_lines(self, fresh: TestClient) -> None:
        assert fresh.get("/api/v1/runs", headers=LINES).text == ""


class TestChanges:
    def test_stale_if_match_is_refused(self, fresh: TestClient) -> None:
        draft = fresh.post("/api/v1/drafts", json={"content": make_content().model_dump(mode="json")})
        view = fresh.post("/api/v1/saved-views", json={"benchmark": "starter", "name": "mine"})
        hook = {"address": "https://ci.example.org/hook", "events": ["run.ended"]}
        subscription = fresh.post("/api/v1/subscriptions", json=hook).json()["id"]
        run = fresh.post("/api/v1/runs", json=BODY).json()
        content = make_content().model_dump(mode="json")
        changes: dict[str, tuple[str, list[Any]]] = {
            draft.headers["location"]: ("PUT", [{"content": {**content, "instruction": f"No {n}"}} for n in (1, 2)]),
            view.headers["location"]: ("PATCH", [{"name": "one"}, {"name": "two"}]),
            f"/api/v1/configurations/{run['configuration']['id']}": ("PATCH", [{"name": "one"}, {"name": "two"}]),
            f"/api/v1/subscriptions/{subscription}": ("PATCH", [{"alpha": 0.1}, {"alpha": 0.2}]),
        }
        for path, (method, (first, second)) in changes.items():
            tag = fresh.get(path).headers["etag"]
            assert fresh.request(method, path, json=first).json()["code"] == "if_match_required"
            mine = fresh.request(method, path, json=first, headers={"If-Match": tag})
            theirs = fresh.request(method, path, json=second, headers={"If-Match": tag})
            assert (mine.status_code, theirs.status_code, theirs.json()["code"]) == (200, 412, "changed_meanwhile")
            assert mine.headers["etag"] == fresh.get(path).headers["etag"] != tag
            assert fresh.request(method, path, json=second, headers={"If-Match": mine.headers["etag"]}).is_success
            assert fresh.request(method, path, json=first, headers={"If-Match": "*"}).is_success

    def test_one_of_twenty_concurrent_changes_wins(self, fresh: TestClient) -> None:
        view = fresh.post("/api/v1/saved-views", json={"benchmark": "starter", "name": "mine"})
        path, headers = view.headers["location"], {"If-Match": view.headers["etag"]}

        def change(number: int) -> int:
            return fresh.patch(path, json={"name": f"name {number}"}, headers=headers).status_code

        with ThreadPoolExecutor(20) as pool:
            assert sorted(pool.map(change, range(20))) == [200] + [412] * 19


class TestWaiting:
    def test_a_submission_waits_for_the_end(self, fresh: TestClient, installation: World) -> None:
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(fresh.post, "/api/v1/runs", json=BODY, headers={"Prefer": "wait=20"})
            runs = until(lambda: fresh.get("/api/v1/runs").json()["items"])
            with installation.work() as session:
                run_service.cancel_run(session, UUID(runs[0]["id"]))
            ended = answer.result()
        assert (ended.status_code, ended.json()["status"]) == (201, "cancelled")
        assert ended.headers["preference-applied"] == "wait=20"
        assert ended.headers["location"] == f"/api/v1/runs/{runs[0]['id']}"

    def test_accepted_work_names_its_place(self, fresh: TestClient) -> None:
        answer = fresh.post("/api/v1/benchmarks/starter/validate")
        assert (answer.status_code, answer.headers["location"]) == (202, "/api/v1/benchmarks/starter/validation")


class TestLimits:
    def test_rate_limit_is_per_person(self, installation: World, tmp_path: Path) -> None:
        with team(installation, tmp_path, rate_limit=3) as people:
            ada, eve = people.add("ada", "viewer"), people.add("eve", "viewer")
            # On a slow machine one more comes back meanwhile; by the second: tests/unit/web/test_rate_limits.py.
            answers = [ada.get("/api/v1/runs") for _ in range(20)]
            assert [answer.status_code for answer in answers[:3]] == [200] * 3
            refused = next(answer for answer in answers if answer.status_code != 200)
            assert (refused.status_code, refused.json()["code"]) == (429, "rate_limited")
            assert 1 <= int(refused.headers["retry-after"]) <= 20
            assert eve.get("/api/v1/runs").status_code == 200
            assert ada.get("/runs").status_code == 200

    def test_no_rate_limit_without_accounts(self, installation: World, tmp_path: Path) -> None:
        client = client_to(create_app(Settings(data_dir=tmp_path), installation.factory, installation.store))
        assert {client.get("/api/v1/tokens").status_code for _ in range(30)} == {403}


def events_of(text: str) -> list[dict[str, Any]]:
    """The events of a stream, without comments."""
    blocks = [block for block in text.split("\n\n") if block and not block.startswith(":")]
    return [dict(line.split(": ", 1) for line in block.splitlines()) for block in blocks]


class TestEvents:
    ACCEPT = {"Accept": "text/event-stream"}  # noqa: RUF012 - never changed

    def test_stream_has_the_listed_events(self, client: TestClient, scene: PageScene) -> None:
        path = f"/api/v1/runs/{scene.finished}/events"
        listed = client.get(path).json()["items"]
        answer = client.get(path, headers=self.ACCEPT)
        first, *events, last = events_of(answer.text)
        assert answer.headers["content-type"].startswith("text/event-stream")
        assert (first, last["event"]) == ({"retry": "2000"}, "end")
        assert [json.loads(event["data"]) for event in events] == listed
        assert [event["id"] for event in events] == [str(row["seq"]) for row in listed]

    def test_stream_resumes_after_the_last_event_id(self, client: TestClient, scene: PageScene) -> None:
        path = f"/api/v1/runs/{scene.finished}/events"
        newest = client.get(path).json()["items"][-1]["seq"]
        some = client.get(path, headers={**self.ACCEPT, "Last-Event-ID": str(newest - 1)})
        assert [event["id"] for event in events_of(some.text) if "id" in event] == [str(newest)]
        assert client.get(path, headers={**self.ACCEPT, "Last-Event-ID": str(newest)}).status_code == 204
        assert client.get(path, headers={**self.ACCEPT, "Last-Event-ID": "x"}).status_code == 422

    def test_stream_ends_with_the_run(self, fresh: TestClient, installation: World) -> None:
        run = fresh.post("/api/v1/runs", json=BODY).json()["id"]
        with ThreadPoolExecutor(1) as pool:
            answer = pool.submit(fresh.get, f"/api/v1/runs/{run}/events", headers=self.ACCEPT)
            with installation.work() as session:
                run_service.cancel_run(session, UUID(run))
            assert events_of(answer.result().text)[-1]["event"] == "end"

    def test_unknown_run_is_404(self, client: TestClient, scene: PageScene) -> None:
        assert client.get(f"/api/v1/runs/{scene.study}/events", headers=self.ACCEPT).status_code == 404
