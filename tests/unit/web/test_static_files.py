import gzip

import pytest
from fastapi.testclient import TestClient

from backend.config import Settings
from backend.web.app import create_app
from backend.web.static_files import STATIC, static_url, version

LIMIT = 150 * 1000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    return TestClient(create_app(Settings(data=tmp_path_factory.mktemp("data"))), base_url="http://127.0.0.1")


class TestStaticFiles:
    def test_this_version_is_cached_for_ever(self, client: TestClient) -> None:
        answer = client.get(static_url("js/main.js"))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]

    def test_another_version_is_not_cached(self, client: TestClient) -> None:
        answer = client.get("/static/old/js/main.js")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-cache"

    @pytest.mark.parametrize("path", ["../templates/base.html", "%2e%2e/templates/base.html", "js/nothing.js", ""])
    def test_nothing_else_is_served(self, client: TestClient, path: str) -> None:
        assert client.get(f"/static/{version()}/{path}").status_code in {400, 404}


class TestWeight:
    def test_all_scripts_together_stay_small(self) -> None:
        """Every controller of every page, gzipped, without plotly, which loads only for a chart."""
        total = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.rglob("*.js"))
        assert total < LIMIT
