"""The arrows of docs/architecture.md. Most of them are import-linter contracts in pyproject.toml."""

import subprocess
import sys
from pathlib import Path

from tests.architecture.tree import ROOT, imported, parsed, python_files

OURS = {"backend", "deskarena", "worker", "tests", "tools", "migrations"}


def importing(packages: set[str], *folders: str) -> list[str]:
    """Where modules in the folders import one of the packages."""
    return [
        f"{path}:{line} imports {name}"
        for path in python_files(*folders)
        for line, name in imported(parsed(path))
        if name.split(".")[0] in packages
    ]


class TestContracts:
    def test_every_contract_of_import_linter_is_kept(self) -> None:
        program = Path(sys.executable).with_name("lint-imports")
        done = subprocess.run([program, "--no-cache"], cwd=ROOT, capture_output=True, text=True, check=False)
        assert done.returncode == 0, done.stdout + done.stderr


class TestGuestServer:
    def test_imports_nothing_of_ours(self) -> None:
        """It runs inside the desktop, on another Python, where nothing of the service exists."""
        assert importing(OURS, "vm_images") == []


class TestProduct:
    def test_imports_nothing_that_only_tests_or_tools_have(self) -> None:
        foreign = {"tests", "tools", "pytest", "hypothesis", "playwright", "schemathesis"}
        assert importing(foreign, "backend", "worker") == []

    def test_the_guest_server_is_run_never_imported(self) -> None:
        assert importing({"guest_server", "vm_images"}, "backend", "worker") == []
