"""A worker's own metrics over a real socket."""

from pathlib import Path

import httpx
import pytest
from pydantic import SecretStr

from backend.config import Settings
from worker.bootstrap.metrics_server import MetricsServer

TOKEN = "token-of-figures"


def served(folder: Path, **settings: object) -> MetricsServer:
    return MetricsServer(Settings.model_validate({"data_dir": folder, **settings}))


def test_requires_its_token_and_serves_one_page(tmp_path: Path) -> None:
    server = served(tmp_path, metrics_token=SecretStr(TOKEN))
    server.start()
    try:
        url, headers = f"http://127.0.0.1:{server.port}", {"Authorization": f"Bearer {TOKEN}"}
        assert httpx.get(f"{url}/metrics", timeout=60).status_code == 401
        assert httpx.get(f"{url}/other", headers=headers, timeout=60).status_code == 404
        answer = httpx.get(f"{url}/metrics", headers=headers, timeout=60)
        assert answer.headers["content-type"].startswith("text/plain; version=0.0.4")
        assert "# TYPE deskarena_reset_seconds histogram" in answer.text
        taken = served(tmp_path, worker_metrics_port=server.port)
        taken.start()
        assert taken.port == 0  # Logged; the worker goes on.
    finally:
        server.stop()
        server.stop()


def test_is_not_served_to_other_hosts_without_a_token(tmp_path: Path, caplog: pytest.LogCaptureFixture) -> None:
    server = served(tmp_path, worker_metrics_host="0.0.0.0")  # noqa: S104 - refused
    server.start()
    assert server.port == 0
    assert "DESKARENA_METRICS_TOKEN" in caplog.text
