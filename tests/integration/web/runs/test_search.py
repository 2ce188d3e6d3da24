from typing import Any

import pytest
from fastapi.testclient import TestClient

from tests.factories.scene import PageScene


def hits(client: TestClient, words: str) -> dict[str, list[dict[str, Any]]]:
    """Hits by kind; each one's page opens."""
    answer = client.get("/api/v1/search", params={"q": words})
    assert answer.status_code == 200
    by_kind: dict[str, list[dict[str, Any]]] = {}
    for hit in answer.json()["hits"]:
        by_kind.setdefault(hit["kind"], []).append(hit)
        if hit["url"] != "/docs/":  # Built apart.
            assert client.get(hit["url"], headers={"Accept": "text/html"}).status_code in {200, 303}, hit
    return by_kind


class TestSearch:
    def test_finds_names_and_models(self, client: TestClient, scene: PageScene) -> None:
        found = hits(client, "navi")
        assert f"/runs/{scene.finished}" in {hit["url"] for hit in found["run"]}
        assert found["configuration"]

    def test_tasks_by_instruction_with_their_newest_episodes(self, client: TestClient) -> None:
        task = hits(client, "rename")["task"][0]
        words = task["detail"].partition(" · ")[2][:20]
        found = hits(client, words)
        assert task["url"] in {hit["url"] for hit in found["task"]}
        assert {hit["title"] for hit in found["episode"]} <= {hit["title"] for hit in found["task"]}

    def test_id_finds_its_page(self, client: TestClient, scene: PageScene) -> None:
        assert [hit["url"] for hit in hits(client, f" {scene.solved} ")["episode"]] == [f"/episodes/{scene.solved}"]

    def test_finds_pages_and_actions(self, client: TestClient) -> None:
        assert [hit["url"] for hit in hits(client, "new run")["page"]] == ["/runs/new"]
        assert len(hits(client, "")["page"]) > 10

    @pytest.mark.parametrize("words", ["x", "%%", "no such words anywhere"])
    def test_short_or_unknown_words_find_nothing(self, client: TestClient, words: str) -> None:
        assert set(hits(client, words)) <= {"page"}
