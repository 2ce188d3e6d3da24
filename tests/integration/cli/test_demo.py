"""`deskarena demo`: everything from nothing, one run on a real desktop, and nothing afterwards."""

import contextlib
import json
import tempfile
from pathlib import Path

import psutil
import pytest

from backend.cli.commands.demo import PREFIX, temporary_folder
from backend.cli.embedded.data_dir import DataFolder
from backend.cli.errors import UsageError
from tests.integration.cli.service import deskarena

EPISODE = {"task", "domain", "difficulty", "outcome", "ended_by", "score", "steps", "attempts", "seconds"}
ONE_TASK = "files/rename_report"


def demo_folders() -> set[Path]:
    return set(Path(tempfile.gettempdir()).glob(f"{PREFIX}*"))


def refuse(folder: Path) -> None:
    """The service's answer to a run that selects no task."""
    assert folder.is_dir()
    raise UsageError("tasks.0: 'no/such*' matches none of the 61 tasks", code="no_task_selected")


@pytest.mark.stack
@pytest.mark.desktop
class TestDemo:
    def test_demo_runs_on_a_real_desktop_and_prints_one_object(self) -> None:
        before = demo_folders()
        done = deskarena(
            "demo", "-o", "json", "--agent", "always_fail", "--tasks", ONE_TASK, "--slots", "1", timeout=200
        )
        assert done.returncode == 0, done.stderr
        found = json.loads(done.stdout)
        assert found["run"]["status"] == "completed"
        assert found["run"]["id"]
        assert len(found["episodes"]) == 1
        episode = found["episodes"][0]
        assert set(episode) >= EPISODE
        assert (episode["task"], episode["outcome"], episode["ended_by"]) == (ONE_TASK, "scored", "infeasible")
        assert (episode["score"], episode["attempts"]) == (0.0, 1)
        assert set(episode["seconds"]) >= {"reset", "setup", "agent", "evaluation"}
        summary = found["summary"]
        assert (summary["success_rate"], summary["mean_score"]) == (0.0, 0.0)
        assert summary["interval"]["success_rate"][0] == 0.0
        assert summary["outcomes"]["scored"] == 1
        assert demo_folders() <= before
        assert not [p for p in psutil.process_iter(["cmdline"]) if PREFIX in " ".join(p.info["cmdline"] or ())]


class TestTemporaryFolder:
    def test_is_gone_after_a_refused_run(self) -> None:
        """The command ends with the service's answer, as every command does; so does the folder."""
        with contextlib.suppress(UsageError), temporary_folder() as folder:
            refuse(folder)
        assert not folder.exists()

    def test_old_folders_of_killed_demonstrations_are_removed(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.setattr(tempfile, "tempdir", str(tmp_path))
        monkeypatch.setattr("backend.cli.commands.demo.YOUNG_SECONDS", -1.0)
        killed, alive = tmp_path / f"{PREFIX}killed", tmp_path / f"{PREFIX}alive"
        with DataFolder(killed):
            pass
        with DataFolder(alive), temporary_folder():
            assert not killed.exists()
            assert alive.exists()
