import gzip
from pathlib import Path

import pytest
from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from backend.config import Settings
from backend.web import errors
from backend.web.app import create_app
from backend.web.headers import CSP
from backend.web.static_files import (
    STATIC,
    STYLE_SHEET,
    STYLE_SHEETS,
    Documentation,
    modules_of,
    static_url,
    version,
)

LIMIT = 150 * 1000


@pytest.fixture(scope="module")
def client(tmp_path_factory: pytest.TempPathFactory) -> TestClient:
    return TestClient(create_app(Settings(data_dir=tmp_path_factory.mktemp("data"))), base_url="http://127.0.0.1")


class TestStaticFiles:
    def test_this_version_is_cached_for_ever(self, client: TestClient) -> None:
        answer = client.get(static_url("js/main.js"))
        assert answer.status_code == 200
        assert "immutable" in answer.headers["cache-control"]

    def test_another_version_is_not_cached(self, client: TestClient) -> None:
        answer = client.get("/static/old/js/main.js")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-cache"

    @pytest.mark.parametrize("encoding", ["gzip", "identity"])
    def test_the_style_sheets_are_one_file(self, client: TestClient, encoding: str) -> None:
        answer = client.get(static_url(STYLE_SHEET), headers={"Accept-Encoding": encoding})
        parts = [(STATIC / "css" / f"{name}.css").read_text() for name in STYLE_SHEETS]
        assert answer.text == "".join(parts)
        assert (answer.headers["content-type"], answer.headers["vary"]) == (
            "text/css; charset=utf-8",
            "Accept-Encoding",
        )
        assert answer.headers.get("content-encoding", "identity") == encoding
        assert {f"{name}.css" for name in STYLE_SHEETS} == {path.name for path in (STATIC / "css").iterdir()}

    def test_compressed_files_are_sent_unchanged(self, client: TestClient) -> None:
        answer = client.get(static_url("fonts/plex-sans.woff2"))
        assert answer.content == (STATIC / "fonts" / "plex-sans.woff2").read_bytes()
        assert answer.headers["content-type"] == "font/woff2"
        assert "content-encoding" not in answer.headers

    @pytest.mark.parametrize("path", ["../templates/base.html", "%2e%2e/templates/base.html", "js/nothing.js", ""])
    def test_nothing_else_is_served(self, client: TestClient, path: str) -> None:
        assert client.get(f"/static/{version()}/{path}").status_code in {400, 404}


class TestModules:
    def test_a_page_names_all_that_its_controllers_import(self) -> None:
        modules = modules_of(frozenset({"versus", "remote-desktop", "no-such-controller"}))
        assert modules[0] == "js/main.js"
        assert {"js/controllers/versus.js", "js/controllers/remote_desktop.js"} < set(modules)
        assert {"js/lib/overlay.js", "js/lib/controller.js"} < set(modules)  # Imported by what these import.
        assert len(modules) == len(set(modules))
        assert all((STATIC / module).is_file() for module in modules)


class TestWeight:
    def test_all_scripts_together_stay_small(self) -> None:
        """Every controller of every page, gzipped, without plotly, which loads only for a chart."""
        total = sum(len(gzip.compress(path.read_bytes())) for path in STATIC.rglob("*.js"))
        assert total < LIMIT


@pytest.fixture
def documentation(tmp_path: Path) -> TestClient:
    """A service with its documentation in the test's folder."""
    app = FastAPI(docs_url=None)
    errors.install(app)
    app.mount("/docs", Documentation(tmp_path))
    return TestClient(app)


class TestDocumentation:
    def test_says_how_to_build_it(self, documentation: TestClient) -> None:
        answer = documentation.get("/docs/")
        assert (answer.status_code, answer.json()["code"]) == (404, "docs_not_built")
        assert "make docs" in answer.json()["hint"]

    def test_serves_what_was_built_meanwhile(self, documentation: TestClient, tmp_path: Path) -> None:
        (tmp_path / "index.html").write_text("<h1>Start</h1>")
        answer = documentation.get("/docs")
        assert (answer.status_code, answer.text) == (200, "<h1>Start</h1>")
        assert answer.headers["cache-control"] == "no-cache"

    def test_the_service_sends_its_policy_with_it_and_asks_for_the_token(self, tmp_path: Path) -> None:
        app = create_app(Settings(data_dir=tmp_path, token=SecretStr("secret-of-16-char")))
        client = TestClient(app, base_url="http://127.0.0.1")
        assert client.get("/docs/", headers={"Accept": "application/json"}).status_code == 401
        answer = client.get("/docs/", headers={"Authorization": "Bearer secret"})
        assert answer.headers["content-security-policy"] == CSP
