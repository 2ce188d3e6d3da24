"""The files around the code: locks, tracked files, decisions, the README."""

import importlib.metadata
import re
import subprocess
import sys
import tomllib
from pathlib import Path

import pytest

from tests.architecture.tree import ROOT
from tools import check_tracked

PROJECT = tomllib.loads((ROOT / "pyproject.toml").read_text())
DECISIONS = sorted((ROOT / "docs" / "internals" / "decisions").glob("[0-9]*.md"))
LOCKS = {
    "requirements/service.txt": PROJECT["project"]["dependencies"],
    "requirements/dev.txt": [*PROJECT["dependency-groups"]["dev"], *PROJECT["dependency-groups"]["build"]],
    "requirements/docs.txt": PROJECT["dependency-groups"]["docs"],
    "requirements/cli.txt": PROJECT["dependency-groups"]["cli"],
    "requirements/bootstrap.txt": PROJECT["dependency-groups"]["bootstrap"],
    "requirements/guest.txt": PROJECT["dependency-groups"]["guest"],
    "requirements/guest-windows.txt": PROJECT["dependency-groups"]["guest-windows"],
}


def bare_name(requirement: str) -> str:
    """`psycopg[binary]>=3` as `psycopg`."""
    return re.split(r"[\[<>=!~; ]", requirement)[0].lower()


class TestLocks:
    @pytest.mark.parametrize("lock", LOCKS)
    def test_pins_every_declared_package(self, lock: str) -> None:
        pinned = set(re.findall(r"^([a-z0-9._-]+)(?:\[[^]]*\])?==", (ROOT / lock).read_text(), re.MULTILINE))
        missing = {bare_name(requirement) for requirement in LOCKS[lock]} - pinned
        assert not missing, f"{lock} does not pin {sorted(missing)}; run `make lock`"

    @pytest.mark.parametrize("lock", LOCKS)
    def test_every_pin_has_a_hash(self, lock: str) -> None:
        pins = re.split(r"^(?=[a-z0-9])", (ROOT / lock).read_text(), flags=re.MULTILINE)[1:]
        assert all("--hash=sha256:" in pin for pin in pins)


class TestCommandLine:
    def test_starts_with_the_packages_of_its_own_lock(self) -> None:
        """Jobs of CI systems install nothing else (integrations/). click: typer has its own, and takes both."""
        code = "import sys, backend.cli.main; print(*{name.partition('.')[0] for name in sys.modules})"
        done = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True, check=True)
        packages = importlib.metadata.packages_distributions()
        loaded = {name.lower() for module in done.stdout.split() for name in packages.get(module, ())} - {"deskarena"}
        pinned = set(re.findall(r"^([a-z0-9._-]+)==", (ROOT / "requirements/cli.txt").read_text(), re.MULTILINE))
        assert {name.replace("_", "-") for name in loaded} - pinned - {"click", "setuptools"} == set()


class TestTrackedFiles:
    def test_name_no_package_host_and_no_machine_path(self) -> None:
        assert check_tracked.check() == []


class TestMakefile:
    def test_help_lists_every_target(self) -> None:
        targets = re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
        shown = subprocess.run(["make", "help"], cwd=ROOT, capture_output=True, text=True, check=True).stdout
        listed = re.findall(r"^  ([a-z-]+) +\S", shown, re.MULTILINE)
        assert targets
        assert sorted(listed) == sorted(targets)


class TestReadme:
    def test_names_the_two_commands_and_targets_that_exist(self) -> None:
        named = re.findall(r"\bmake ([a-z-]+)", (ROOT / "README.md").read_text())
        targets = re.findall(r"^\.PHONY: ([a-z-]+)$", (ROOT / "Makefile").read_text(), re.MULTILINE)
        assert {"run", "test", "help"} <= set(named) <= set(targets)

    def test_has_a_picture(self) -> None:
        pictures = re.findall(r"!\[.+\]\((\S+)\)", (ROOT / "README.md").read_text())
        assert pictures
        assert all((ROOT / path).is_file() for path in pictures)


class TestDecisions:
    def test_decisions_exist(self) -> None:
        assert DECISIONS

    @pytest.mark.parametrize("path", DECISIONS, ids=lambda path: path.name)
    def test_each_is_short_and_says_what_why_and_at_what_price(self, path: Path) -> None:
        text = path.read_text()
        assert len(text.splitlines()) <= 40
        assert [part for part in ("## Context", "## Decision", "## Consequences") if part not in text] == []

    def test_the_index_names_each(self) -> None:
        index = (ROOT / "docs" / "internals" / "decisions" / "README.md").read_text()
        assert [path.name for path in DECISIONS if path.name not in index] == []
