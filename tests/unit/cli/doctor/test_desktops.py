from pathlib import Path

import pytest

from backend.cli.doctor import desktops
from backend.cli.doctor.check import State


class TestWine:
    @pytest.fixture
    def laid_out(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
        """A machine with Wine, and what `make setup` lays out for it."""
        (tmp_path / "wine").write_text("#!/bin/sh\necho 'wine-8.0 (Debian 8.0~repack-4)'\n")
        (tmp_path / "wine").chmod(0o755)
        monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
        (tmp_path / ".wine" / "home").mkdir(parents=True)
        return tmp_path / ".wine"

    def test_says_its_version_where_all_is_ready(self, laid_out: Path) -> None:
        found = desktops.wine(laid_out)
        assert (found.state, found.detail) == (State.OK, "wine-8.0 (Debian 8.0~repack-4)")

    def test_says_why_it_could_not_be_made_ready(self, laid_out: Path) -> None:
        (laid_out / desktops.WHY_NOT).write_text("this command failed:\n  wineboot --init\n")
        found = desktops.wine(laid_out)
        assert found.state is State.BROKEN
        assert found.detail.endswith("could not be made ready: this command failed: wineboot --init")
        assert "make setup" in found.install

    def test_says_that_setup_was_not_run_since_it_was_installed(self, laid_out: Path) -> None:
        (laid_out / "home").rmdir()
        assert desktops.wine(laid_out).detail.endswith(f"but not made ready in {laid_out}")

    def test_a_machine_without_wine(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("PATH", str(tmp_path))
        assert desktops.wine(tmp_path).state is State.MISSING
