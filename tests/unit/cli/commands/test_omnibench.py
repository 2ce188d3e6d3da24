import json
from pathlib import Path
from typing import Any

import pytest
from typer.testing import CliRunner

from backend.cli.main import app
from tests.factories.omnibench import small_pool, wide_pool
from tests.factories.suites import read
from tests.integration.cli.service import serving


@pytest.fixture
def pool(tmp_path: Path) -> Path:
    folder = tmp_path / "pool"
    folder.mkdir()
    rows = [one.model_dump(by_alias=True, exclude={"source"}) for one in wide_pool(2).values()]
    (folder / "subtasks.json").write_text(json.dumps(rows))
    (folder / "about.json").write_text('{"licence": "Apache-2.0", "source": "tests"}')
    return folder


def composed(*arguments: object) -> Any:
    return CliRunner().invoke(app, ["omnibench", "compose", *map(str, arguments)])


class TestCompose:
    def test_composed_tasks_can_be_imported(self, pool: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        result = composed(pool, "--out", out, "--tasks", 20, "--capability", "all", "--orders", 3, "-o", "json")
        assert result.exit_code == 0, result.output
        told = json.loads(result.stdout)
        assert told["tasks"] == 20
        loaded = read("omnibench", out)
        assert len(loaded.tasks) == 20
        assert {name: len(keys) for name, keys in loaded.selections.items()} == told["capabilities"]
        assert set(told["capabilities"]) == {"PP", "LRP", "LSR", "LIF", "SDK", "CDDK", "SI", "DI", "CDK", "DSK"}
        assert {variant.axis for variant in loaded.variants} == {"detail", "intent", "order"}
        assert loaded.licence == "Apache-2.0"

    def test_a_level_holds_for_every_task(self, pool: Path, tmp_path: Path) -> None:
        out = tmp_path / "out"
        assert composed(pool, "--out", out, "--tasks", 5, "--level", "hierarchy=easy").exit_code == 0
        assert {task.labels.extra["complexity"]["hierarchy"] for task in read("omnibench", out).tasks} == {"easy"}

    @pytest.mark.parametrize(
        ("arguments", "words"),
        [
            (("--level", "beauty=hard"), "--level beauty=hard"),
            (("--level", "branch"), "--level branch"),
            (("--capability", "XX"), "no capability 'XX'"),
            (("--level", "knowledge=hard", "--level", "instruction=easy"), "no further graph"),
        ],
    )
    def test_impossible_requests_are_reported_and_write_nothing(
        self, pool: Path, tmp_path: Path, arguments: tuple[str, ...], words: str
    ) -> None:
        result = composed(pool, "--out", tmp_path / "out", *arguments)
        assert words in str(result.exception)
        assert not (tmp_path / "out").exists()

    def test_a_folder_that_is_there_is_not_touched(self, pool: Path) -> None:
        assert "exists already" in str(composed(pool, "--out", pool).exception)


class TestCross:
    def test_trials_can_be_imported(self, tmp_path: Path) -> None:
        rows = [one.model_dump(by_alias=True, exclude={"source"}) for one in small_pool().values()]
        folder, out = tmp_path / "pool", tmp_path / "out"
        folder.mkdir()
        (folder / "subtasks.json").write_text(json.dumps(rows))
        result = CliRunner().invoke(app, ["omnibench", "cross-verify", str(folder), "--out", str(out), "-o", "json"])
        assert json.loads(result.stdout)["trials"] == 16
        assert len(read("omnibench", out).tasks) == 16


class TestVerdict:
    @pytest.mark.parametrize(("foreign", "code"), [(0.0, 0), (1.0, 1)])
    def test_says_what_is_to_be_revised(self, foreign: float, code: int) -> None:
        scores = {"a.own": 1.0, "a.foreign-1": 0.0, "a.foreign-2": 0.0, "a.foreign-3": foreign}
        episodes = [{"task": f"note_management/{name}", "score": score} for name, score in scores.items()]
        with serving({"GET /api/v1/runs/7": {"episodes": episodes}}) as service:
            result = CliRunner().invoke(app, ["omnibench", "verdict", "7", "--server", service.url, "-o", "json"])
        assert result.exit_code == code
        (row,) = json.loads(result.stdout)
        assert (row["subtask"], row["passed"], "too weak" in row["feedback"]) == ("a", code == 0, code == 1)
