"""Reports for `deskarena doctor` about installed things that do not work."""

import threading
from pathlib import Path
from typing import Any

import pytest

from backend.config import Settings
from backend.domain import registry
from backend.domain.errors import ClusterLost, EvaluatorFailed
from tests.fakes.detector import FakeDetector
from worker.commands import examine
from worker.commands.examine import BROKEN, MISSING, OK, UNTRIED, TrialFinding
from worker.local import wine
from worker.models.openai_chat import OpenAIChat
from worker.providers.local_trial import Trial


@pytest.fixture(autouse=True, scope="module")
def _plugins() -> None:
    registry.load("worker.models")


GOOD = {
    "home": "overlay",
    "limits": {"memory": "cgroup v2", "processes": "cgroup v2", "cpu": "cgroup v2"},
    "notes": [],
    "seconds": {"made": 0.5},
}


class Local:
    """A provider with scripted results of trials."""

    def __init__(self, trial: Trial | None = None, *, folder: Path = Path("/absent"), no_wine: str = "") -> None:
        self.wine_folder, self._trial, self._no_wine = folder, trial, no_wine

    def trial(self, _: object) -> Trial:
        if self._trial is None:
            raise ClusterLost("a local desktop could not be made: bwrap: setting up uid map: Permission denied")
        return self._trial

    def wine_trial(self) -> str:
        return self._no_wine


def of_local(trial: Trial | None, *programs: str) -> dict[str, TrialFinding]:
    local: Any = Local(trial)
    return examine.try_local_desktop(local, {name: [name] for name in programs})


class TestLocal:
    def test_working_local_desktop_is_ok(self) -> None:
        found = of_local(Trial(GOOD, ""), "editor")
        assert {name: each.state for name, each in found.items()} == dict.fromkeys(
            ("local desktop", "overlay", "cgroups", "accessibility", "editor"), OK
        )

    def test_local_desktop_that_does_not_start_is_broken(self) -> None:
        found = of_local(None, "editor")
        assert found["local desktop"].state == BROKEN
        assert "setting up uid map" in found["local desktop"].detail
        assert {found[name].state for name in ("overlay", "cgroups", "accessibility", "editor")} == {UNTRIED}

    def test_unusable_overlay_is_broken(self) -> None:
        notes = ["no overlay home: the overlay shows deleted files again", "no control group limits cpu: none"]
        found = of_local(Trial({**GOOD, "home": "copy on tmpfs", "notes": notes}, ""))["overlay"]
        assert found == TrialFinding(
            BROKEN, "home: copy on tmpfs; no overlay home: the overlay shows deleted files again"
        )

    def test_control_group_without_limits_is_broken(self) -> None:
        why = "no control group limits memory: a program with a limit of 16 MiB took 64 MiB (exit status 0)"
        limits = {**GOOD["limits"], "memory": "watchdog"}  # type: ignore[dict-item]
        found = of_local(Trial({**GOOD, "limits": limits, "notes": [why]}, ""))["cgroups"]
        assert (found.state, why in found.detail) == (BROKEN, True)

    def test_watchdog_limits_mean_missing_cgroups(self) -> None:
        limits = {**GOOD["limits"], "memory": "watchdog"}  # type: ignore[dict-item]
        assert of_local(Trial({**GOOD, "limits": limits}, ""))["cgroups"].state == MISSING

    def test_untested_accessibility_tree_is_untried(self) -> None:
        found = of_local(Trial(GOOD, "not tried, as no window can be opened: no Gtk"))["accessibility"]
        assert found.state == UNTRIED

    def test_unusable_tree_and_program_are_broken(self) -> None:
        found = of_local(Trial(GOOD, "no registry", {"editor": "libgtk-3.so.0: cannot open"}), "editor", "browser")
        assert found["accessibility"] == TrialFinding(BROKEN, "no registry")
        assert found["editor"].state == BROKEN
        assert "libgtk-3.so.0" in found["editor"].detail
        assert found["browser"].state == OK


class TestExamine:
    def test_hanging_trial_does_not_affect_others(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        closed = threading.Event()

        class HangingProvider(Local):
            """Whose desktop with Wine is not there until it is closed."""

            def __init__(self, _: Settings) -> None:
                super().__init__(Trial(GOOD, ""))

            def close(self) -> None:
                closed.set()

        def late(_: object) -> TrialFinding:
            closed.wait(60)
            return TrialFinding(OK, "")

        monkeypatch.setattr(examine, "LocalProvider", HangingProvider)
        monkeypatch.setattr(examine, "try_wine", late)
        monkeypatch.setattr(examine, "try_containers", lambda: TrialFinding(OK, ""))
        monkeypatch.setattr(examine, "try_evaluators", lambda: TrialFinding(OK, ""))
        found = examine.examine(Settings(data_dir=tmp_path), {}, 2.0)
        assert (found["wine"].state, "within 2 s" in found["wine"].detail) == (BROKEN, True)
        assert found["local desktop"].state == OK


class TestWine:
    @pytest.fixture
    def folder(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A machine with Wine, and what `make setup` lays out for it."""
        program = tmp_path / "wine64"
        program.write_text("#!/bin/sh\necho 'wine-8.0 (Debian 8.0~repack-4)'\n")
        program.chmod(0o755)
        monkeypatch.setattr(wine, "LOADERS", (program,))
        for name in ("python/python.exe", "home/.wine/system.reg"):
            (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)
            (tmp_path / name).touch()
        return tmp_path

    @staticmethod
    def told(folder: Path, *, no_wine: str = "") -> TrialFinding:
        local: Any = Local(folder=folder, no_wine=no_wine)
        return examine.try_wine(local)

    def test_working_wine_reports_its_version(self, folder: Path) -> None:
        found = self.told(folder)
        assert (found.state, found.detail.startswith("Wine 8.0: ")) == (OK, True)

    def test_wine_whose_desktop_does_not_start_is_broken(self, folder: Path) -> None:
        found = self.told(folder, no_wine="python.exe crashed")
        assert found == TrialFinding(BROKEN, "Wine 8.0: python.exe crashed")

    def test_failed_setup_command_is_reported(self, folder: Path) -> None:
        (folder / wine.WHY_NOT).write_text("this command failed:\n  wineboot --init\n")
        found = self.told(folder)
        assert (found.state, "this command failed: wineboot --init" in found.detail) == (BROKEN, True)

    def test_missing_prefix_hints_at_make_setup(self, folder: Path) -> None:
        (folder / "home" / ".wine" / "system.reg").unlink()
        found = self.told(folder)
        assert (found.state, "Run `make setup`" in found.detail) == (BROKEN, True)

    def test_host_without_wine_is_reported(self, folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(wine, "LOADERS", ())
        assert self.told(folder).state == MISSING


class TestHelpers:
    def test_tesseract_that_reads_nothing_is_broken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        (tmp_path / "tesseract").write_text("#!/bin/sh\ncat > /dev/null\n")
        (tmp_path / "tesseract").chmod(0o755)
        assert examine.try_ocr().state == BROKEN

    def test_missing_tesseract_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert examine.try_ocr().state == MISSING

    def test_container_engine_without_daemon_is_broken(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        (tmp_path / "docker").write_text("#!/bin/sh\necho 'Cannot connect to the daemon' >&2\nexit 1\n")
        (tmp_path / "docker").chmod(0o755)
        assert examine.try_containers() == TrialFinding(BROKEN, "docker does not work: Cannot connect to the daemon")

    def test_missing_container_engine_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert examine.try_containers().state == MISSING

    def test_evaluators_without_sandbox_are_broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        class UnstartableEvaluator:
            @property
            def sandbox(self) -> object:
                raise EvaluatorFailed("no child can be started")

        monkeypatch.setattr(examine, "Evaluator", UnstartableEvaluator)
        assert examine.try_evaluators() == TrialFinding(BROKEN, "no child can be started")

    def test_exception_breaks_only_its_trial(self) -> None:
        def broken() -> TrialFinding:
            raise ZeroDivisionError("division by zero")

        assert examine.guard(broken) == TrialFinding(BROKEN, "ZeroDivisionError: division by zero")


class TestModels:
    def test_no_endpoint_is_missing(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        for name in ("OPENAI_API_KEY", "ANTHROPIC_API_KEY", "GEMINI_API_KEY"):
            monkeypatch.delenv(name, raising=False)
        assert examine.try_models(Settings(data_dir=tmp_path)).state == MISSING

    def test_unreachable_endpoint_is_broken(self, tmp_path: Path) -> None:
        address = 'base_url = "http://127.0.0.1:1/v1"'
        (tmp_path / "models.toml").write_text(f'[endpoints.mine]\napi = "openai_chat"\n{address}\n')
        found = examine.try_models(Settings(data_dir=tmp_path))
        assert (found.state, "mine: http://127.0.0.1:1/v1 does not respond" in found.detail) == (BROKEN, True)

    def test_cassette_is_checked_for_validity(self, tmp_path: Path) -> None:
        (tmp_path / "tape.jsonl").touch()
        tape = f'[endpoints.tape]\napi = "recorded"\ncassette = "{tmp_path}/tape.jsonl"\n'
        (tmp_path / "models.toml").write_text(tape)
        assert examine.try_models(Settings(data_dir=tmp_path)) == TrialFinding(OK, "tape responded")
        (tmp_path / "tape.jsonl").write_text("no JSON")
        assert examine.try_models(Settings(data_dir=tmp_path)).state == BROKEN

    def test_endpoint_without_a_model_list_is_untried(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delattr(OpenAIChat, "listing")
        address = 'base_url = "http://127.0.0.1:1/v1"'
        (tmp_path / "models.toml").write_text(f'[endpoints.mine]\napi = "openai_chat"\n{address}\n')
        assert examine.try_models(Settings(data_dir=tmp_path)) == TrialFinding(UNTRIED, "mine not contacted")


class TestDetectors:
    def test_working_detector_is_ok(self) -> None:
        with FakeDetector().serving() as detector:
            found = examine.try_detectors(Settings(detectors={"omni": detector.address}))
        assert (found.state, len(detector.asked)) == (OK, 1)

    def test_invalid_detector_response_is_broken(self) -> None:
        with FakeDetector().serving() as detector:
            detector.answer = {}
            assert examine.try_detectors(Settings(detectors={"omni": detector.address})).state == BROKEN

    def test_unreachable_detector_is_broken(self) -> None:
        found = examine.try_detectors(Settings(detectors={"omni": "http://127.0.0.1:1/"}))
        assert (found.state, "does not respond" in found.detail) == (BROKEN, True)

    def test_no_detector_is_missing(self) -> None:
        assert examine.try_detectors(Settings()).state == MISSING
