"""MP4 of an attempt: made once, on request, by the ffmpeg program."""

import json
import subprocess
from pathlib import Path

import pytest
from fastapi.testclient import TestClient

from backend.services.export import video_encoder
from tests.factories.scene import PageScene

PAGE = {"Accept": "text/html"}


def test_a_video_shows_every_step_for_a_second(client: TestClient, scene: PageScene, tmp_path: Path) -> None:
    page = f"/episodes/{scene.solved}"
    attempt = client.get(f"/api/v1{page}/attempts").json()["items"][-1]["id"]
    address = f"/api/v1/attempts/{attempt}/video"
    assert client.get(address).json()["code"] == "video_not_found"
    assert "Make video" in client.get(page, headers=PAGE).text
    assert client.post(f"{page}/video", follow_redirects=False).headers["Location"] == page
    made = client.post(address).json()
    assert made == client.get(address).json()
    assert f'href="{made["url"]}" download' in client.get(page, headers=PAGE).text

    file = tmp_path / "video.mp4"
    file.write_bytes(client.get(made["url"]).content)
    assert file.stat().st_size == made["size"]
    probe = ["ffprobe", "-v", "error", "-show_entries", "stream=codec_name,width,height:format=duration", "-of", "json"]
    facts = json.loads(subprocess.run([*probe, str(file)], check=True, capture_output=True).stdout)
    steps = client.get(f"/api/v1/attempts/{attempt}/steps").json()["items"]
    assert float(facts["format"]["duration"]) == pytest.approx(len(steps), abs=0.5)
    (stream,) = facts["streams"]
    assert (stream["codec_name"], stream["width"] % 2, stream["height"] % 2) == ("h264", 0, 0)


def test_video_requires_an_ended_attempt_and_ffmpeg(
    client: TestClient, scene: PageScene, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert client.post(f"/api/v1/attempts/{scene.attempts[0]}/video").json()["code"] == "attempt_live"
    ended = client.get(f"/api/v1/episodes/{scene.lost}/attempts").json()["items"][-1]["id"]
    monkeypatch.setenv("PATH", "/nowhere")
    assert not video_encoder.available()
    answer = client.post(f"/api/v1/attempts/{ended}/video")
    assert (answer.status_code, answer.json()["code"]) == (409, "ffmpeg_missing")
