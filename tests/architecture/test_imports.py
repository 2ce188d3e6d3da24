"""The arrows of docs/architecture.md. Most of them are import-linter contracts in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT, imported, parsed, python_files

OURS = {"backend", "deskarena", "worker", "tests", "scripts", "migrations"}


class TestContracts:
    def test_every_contract_of_import_linter_is_kept(self) -> None:
        program = Path(sys.executable).with_name("lint-imports")
        done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


class TestGuestServer:
    @pytest.mark.parametrize("path", python_files("vm_images"), ids=str)
    def test_imports_nothing_of_ours(self, path: Path) -> None:
        """It runs inside the desktop, on another Python, where nothing of the service exists."""
        found = [(line, name) for line, name in imported(parsed(path)) if name.split(".")[0] in OURS]
        assert not found, f"{path} imports {found}"


class TestProduct:
    @pytest.mark.parametrize("path", python_files("backend", "worker"), ids=str)
    def test_imports_nothing_that_only_tests_or_tools_have(self, path: Path) -> None:
        foreign = {"tests", "scripts", "pytest", "hypothesis", "playwright", "schemathesis"}
        found = [(line, name) for line, name in imported(parsed(path)) if name.split(".")[0] in foreign]
        assert not found, f"{path} imports {found}"

    @pytest.mark.parametrize("path", python_files("backend", "worker"), ids=str)
    def test_the_guest_server_is_run_never_imported(self, path: Path) -> None:
        found = [
            (line, name) for line, name in imported(parsed(path)) if name.split(".")[0] in {"guest_server", "vm_images"}
        ]
        assert not found, f"{path} imports {found}"
