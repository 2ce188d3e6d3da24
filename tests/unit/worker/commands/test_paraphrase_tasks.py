import json
from pathlib import Path

import pytest

from backend.domain.benchmarks import read_pool, read_tasks
from tests.factories.omnibench import LIST, small_pool, task_json
from worker.commands.paraphrase_tasks import main

TEXT = f"Write 'milk' into '{LIST}' and pack '{LIST}' when you have."


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A composed task, and an endpoint that replays a cassette."""
    made = tmp_path / "tasks"
    made.mkdir()
    rows = [one.model_dump(by_alias=True, exclude={"source"}) for one in small_pool().values()]
    (made / "subtasks.json").write_text(json.dumps(rows))
    (made / "tasks.jsonl").write_text(json.dumps({"task_id": "1", **task_json(["write", "pack"], {"write": ["pack"]})}))
    replies = [{"instruction": TEXT}, {"asked": ["A", "B"], "before": [["B", "A"]]}]
    lines = [json.dumps({"reply": {"text": json.dumps(reply)}}) for reply in replies]
    (tmp_path / "replies.jsonl").write_text("\n".join(lines))
    (tmp_path / "models.toml").write_text(
        f'[endpoints.played]\napi = "recorded"\ncassette = "{tmp_path / "replies.jsonl"}"\n'
    )
    monkeypatch.setenv("DESKARENA_DATA_DIR", str(tmp_path))
    return made


class TestMain:
    def test_accepted_paraphrase_replaces_the_template(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        assert main([str(folder), "--endpoint", "played", "--model", "m"]) == 0
        assert json.loads(capsys.readouterr().out) == {"tasks": 1, "retold": 1, "requests": 2}
        (task,) = read_tasks(folder, read_pool(folder, []))
        assert task.instruction == TEXT

    def test_unknown_endpoint_changes_nothing(self, folder: Path, capsys: pytest.CaptureFixture[str]) -> None:
        before = (folder / "tasks.jsonl").read_text()
        assert main([str(folder), "--endpoint", "nobody", "--model", "m"]) == 3
        assert "no model endpoint 'nobody'" in capsys.readouterr().err
        assert (folder / "tasks.jsonl").read_text() == before
