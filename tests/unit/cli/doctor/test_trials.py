"""How the doctor has a worker's own code try things."""

import os
import sys
from pathlib import Path

import pytest

from backend.cli.doctor import trials
from backend.cli.doctor.check import CheckState, CheckWords
from backend.cli.doctor.trials import Trials, run_trials

PROBE = CheckWords(name="ocr", works="it reads", lacks="it does not read", install="apt install it")


def module(folder: Path, code: str) -> Trials:
    """Trials of a module that the test defines."""
    (folder / "trial_module.py").write_text(f"import json, sys, time\n{code}\n")
    environment = {**os.environ, "PYTHONPATH": str(folder)}
    return run_trials(environment, {"editor": ["mousepad", "--version"]}, module="trial_module")


class TestTried:
    def test_the_last_line_of_output_is_read(self, tmp_path: Path) -> None:
        code = "print('noise'); print(json.dumps({'ocr': {'state': 'broken', 'detail': sys.argv[1]}}))"
        found = module(tmp_path, code).check(PROBE)
        assert (found.state, found.detail) == (CheckState.BROKEN, '{"editor": ["mousepad", "--version"]}')

    def test_broken_module_is_untried_with_a_reason(self, tmp_path: Path) -> None:
        found = module(tmp_path, "raise ImportError('no module named celery')").check(PROBE)
        assert (found.state, "no module named celery" in found.detail) == (CheckState.UNTRIED, True)
        assert (found.means, found.install) == ("it does not read", "apt install it")

    def test_module_with_invalid_output_is_untried(self, tmp_path: Path) -> None:
        assert module(tmp_path, "print('hello')").check(PROBE).state is CheckState.UNTRIED
        assert module(tmp_path, "").check(PROBE).state is CheckState.UNTRIED

    def test_hanging_module_is_untried(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(trials, "SECONDS", 0.5)
        found = module(tmp_path, "time.sleep(60)").check(PROBE)
        assert (found.state, "longer than 0.5 s" in found.detail) == (CheckState.UNTRIED, True)

    def test_missing_interpreter_is_untried(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(sys, "executable", str(tmp_path / "absent"))
        assert run_trials({}, {}).check(PROBE).state is CheckState.UNTRIED


class TestTrials:
    def test_working_trials_are_ok(self) -> None:
        found = Trials({"ocr": (CheckState.OK, "it read")})
        assert (found.ok("ocr"), found.ok("wine")) == (True, False)
        assert (found.check(PROBE).means, found.check(PROBE).install) == ("it reads", "")
