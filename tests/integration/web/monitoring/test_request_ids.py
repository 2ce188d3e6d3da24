"""A request in the log: its id, and those of what it is about."""

import io
import json
import logging
import os
import subprocess
import sys
from pathlib import Path
from socket import create_server

import httpx
from fastapi.testclient import TestClient

from backend.telemetry.logs import ACCESS, use_json
from tests.conftest import ROOT

RUN = "018f0000-0000-7000-8000-000000000000"


def test_response_has_the_request_id_of_its_log_events(client: TestClient) -> None:
    stream, logger = io.StringIO(), logging.getLogger(ACCESS)
    handler = logging.StreamHandler(stream)
    logger.addHandler(handler)
    use_json(logger)
    level = logger.level
    logger.setLevel(logging.INFO)
    try:
        own = client.get(f"/api/v1/runs/{RUN}", headers={"X-Request-ID": "ci-7"})
        made = client.get("/api/v1/runs", headers={"X-Request-ID": "not one"})
    finally:
        logger.removeHandler(handler)
        logger.setLevel(level)
    first, second = (json.loads(line) for line in stream.getvalue().splitlines())
    assert own.headers["x-request-id"] == first["request_id"] == "ci-7"
    assert (first["route"], first["status"], first["run_id"]) == ("/api/v1/runs/{run_id}", 404, RUN)
    assert len(made.headers["x-request-id"]) == 32
    assert made.headers["x-request-id"] == second["request_id"]
    assert "run_id" not in second


def test_all_process_output_is_json(tmp_path: Path) -> None:
    with create_server(("127.0.0.1", 0)) as listener:
        environment = {
            **os.environ,
            "DATABASE_URL": "postgresql://127.0.0.1:1/none",
            "DESKARENA_DATA_DIR": str(tmp_path),
            "DESKARENA_LOG_FORMAT": "json",
        }
        descriptor = listener.fileno()
        process = subprocess.Popen(
            [sys.executable, "-m", "backend.web.serve", "--fd", str(descriptor)],
            cwd=ROOT,
            env=environment,
            pass_fds=[descriptor],
            stderr=subprocess.PIPE,
        )
        try:
            url = f"http://127.0.0.1:{listener.getsockname()[1]}/api/v1/runs/{RUN}"
            assert httpx.get(url, headers={"X-Request-ID": "ci-7"}, timeout=60).status_code == 503
        finally:
            process.terminate()
            _, text = process.communicate(timeout=60)
    events = [json.loads(line) for line in text.splitlines()]
    about = [event["logger"] for event in events if event.get("request_id") == "ci-7" and event["run_id"] == RUN]
    assert about == ["backend.db.session", ACCESS]
