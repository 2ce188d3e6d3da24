import sys

import pytest

from backend.cli.doctor import check
from backend.cli.doctor.check import CheckState, CheckWords

PROBE = CheckWords(name="thing", works="it runs", lacks="it does not", install="apt install thing")


class TestProgram:
    def test_running_program_is_ok(self) -> None:
        found = PROBE.program([sys.executable, "-c", "print('1.2')"], lambda text: f"version {text}")
        assert (found.state, found.detail, found.means, found.install) == (CheckState.OK, "version 1.2", "it runs", "")

    def test_missing_program_names_its_package(self) -> None:
        found = PROBE.program(["no-such-program"])
        assert (found.state, found.means, found.install) == (CheckState.MISSING, "it does not", "apt install thing")

    def test_installed_program_that_fails_is_broken(self) -> None:
        found = PROBE.program([sys.executable, "-c", "import sys; sys.exit('  \\nno way')"])
        assert (found.state, found.detail) == (CheckState.BROKEN, "no way")

    def test_hanging_program_is_broken(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(check, "PROBE_SECONDS", 0.2)
        found = PROBE.program([sys.executable, "-c", "import signal; signal.pause()"])
        assert found.state is CheckState.BROKEN
        assert "did not exit" in found.detail
