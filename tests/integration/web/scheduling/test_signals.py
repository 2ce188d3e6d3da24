"""Signals over HTTP: for Prometheus, for others, and who may ask."""

from pathlib import Path

import pytest
from fastapi.testclient import TestClient
from pydantic import SecretStr

from backend.config import Settings
from backend.web.app import create_app
from tests.factories.records import World
from tests.integration.web.conftest import OWN


class TestMetrics:
    def test_metrics_are_prometheus_text(self, client: TestClient) -> None:
        answer = client.get("/metrics")
        assert answer.headers["content-type"] == "text/plain; version=0.0.4; charset=utf-8"
        lines = answer.text.splitlines()
        names = {line.split()[2] for line in lines if line.startswith("# TYPE")}
        assert {"deskarena_queue_episodes", "deskarena_slots", "deskarena_desktops_wanted"} <= names
        assert all(line.startswith("#") or float(line.rpartition(" ")[2]) >= 0 for line in lines)
        assert any(line.startswith('deskarena_queue_episodes{provider="local",reason="ready"} ') for line in lines)

    def test_say_the_same_as_the_api(self, client: TestClient) -> None:
        wanted = client.get("/api/v1/signals").json()["providers"]["local"]["desktops_wanted"]
        line = f'deskarena_desktops_wanted{{provider="local"}} {float(wanted)}\n'
        assert line in client.get("/metrics").text


class TestToken:
    @pytest.fixture
    def guarded(self, installation: World, tmp_path: Path) -> TestClient:
        settings = Settings(
            data_dir=tmp_path, token=SecretStr("token-of-everything"), metrics_token=SecretStr("token-of-figures")
        )
        return TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)

    @pytest.mark.parametrize("path", ["/metrics", "/api/v1/signals"])
    @pytest.mark.parametrize(
        ("token", "status"), [("", 401), ("wrong", 401), ("token-of-figures", 200), ("token-of-everything", 200)]
    )
    def test_figures_need_one_of_both(self, guarded: TestClient, path: str, token: str, status: int) -> None:
        assert guarded.get(path, headers={"authorization": f"Bearer {token}"}).status_code == status

    def test_both_are_read_again_when_they_rotate(
        self, installation: World, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        files = {"DESKARENA_TOKEN_FILE": "token-of-everything", "DESKARENA_METRICS_TOKEN_FILE": "token-of-figures"}
        for variable, token in files.items():
            (tmp_path / variable).write_text(token)
            monkeypatch.setenv(variable, str(tmp_path / variable))
        settings = Settings(data_dir=tmp_path)
        client = TestClient(create_app(settings, installation.factory, installation.store), base_url=OWN)
        for variable, token in files.items():
            headers = [{"authorization": f"Bearer {each}"} for each in (token, f"new-{token}")]
            assert [client.get("/api/v1/signals", headers=each).status_code for each in headers] == [200, 401]
            (tmp_path / variable).write_text(f"new-{token}")
            assert [client.get("/api/v1/signals", headers=each).status_code for each in headers] == [401, 200]

    @pytest.mark.parametrize("path", ["/api/v1/workers", "/metrics/x", "/api/v1/runs"])
    def test_the_one_for_figures_opens_nothing_else(self, guarded: TestClient, path: str) -> None:
        assert guarded.get(path, headers={"authorization": "Bearer token-of-figures"}).status_code == 401

    def test_empty_bearer_token_is_refused(self, installation: World, tmp_path: Path) -> None:
        app = create_app(
            Settings(data_dir=tmp_path, token=SecretStr("token-of-everything")),
            installation.factory,
            installation.store,
        )
        assert TestClient(app, base_url=OWN).get("/metrics", headers={"authorization": "Bearer "}).status_code == 401
