"""Runs every linter, two at a time, and prints what failed. Called by `make lint`."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
BIN = ROOT / ".venv" / "bin"
PRODUCT = ("backend", "deskarena", "worker")
TYPED = (*PRODUCT, "integrations", "tests", "migrations", "tools", "docs/site/conf.py")


@dataclass(frozen=True)
class LintResult:
    """Result of one linter."""

    name: str
    passed: bool
    output: str
    seconds: float


def call(*command: str | Path, cwd: Path = ROOT, **variables: str) -> tuple[bool, str]:
    """Runs one program; returns whether it was content, and its words."""
    result = subprocess.run(
        [str(word) for word in command],
        cwd=cwd,
        env={**os.environ, **variables},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
        text=True,
        check=False,
    )
    return result.returncode == 0, result.stdout


def ruff_check() -> tuple[bool, str]:
    """Style and likely mistakes."""
    return call(BIN / "ruff", "check", ".")


def ruff_format() -> tuple[bool, str]:
    """Layout of the Python code."""
    return call(BIN / "ruff", "format", "--check", ".")


def types() -> tuple[bool, str]:
    """Types of the service, the worker, the tests and the migrations."""
    return call(BIN / "mypy", *TYPED)


def guest_types() -> tuple[bool, str]:
    """Types of the guest server, which is a separate program for another Python version."""
    return call(BIN / "mypy", "-p", "guest_server", MYPYPATH=str(ROOT / "vm_images"), cwd=ROOT / "vm_images")


def arrows() -> tuple[bool, str]:
    """Checks the import contracts."""
    return call(BIN / "lint-imports", "--no-cache")


def dependencies() -> tuple[bool, str]:
    """Dependencies that nothing imports, and imports that are not declared."""
    return call(BIN / "deptry", "--no-ansi", *PRODUCT, "migrations", "tools", "docs")


def templates() -> tuple[bool, str]:
    return call(BIN / "djlint", "frontend/templates", "docs/site", "--lint", "--quiet")


def browser_code() -> tuple[bool, str]:
    """JavaScript and CSS, with the binary itself: no Node is needed to run it."""
    binary = next((ROOT / "node_modules" / "@biomejs").glob("cli-*/biome"))
    return call(binary, "check", "--no-errors-on-unmatched", "frontend/static", "docs/site")


def spelling() -> tuple[bool, str]:
    """Words in everything that git tracks."""
    files = call("git", "ls-files", "-z")[1].split("\0")
    return call(BIN / "codespell", *[name for name in files if name and (ROOT / name).is_file()])


def yaml() -> tuple[bool, str]:
    """Manifests, the compose file and files for CI systems."""
    return call(BIN / "yamllint", "--strict", "deploy", "integrations", "docker-compose.yml")


def manifests() -> tuple[bool, str]:
    """Kubernetes manifests: fields, types and words, as an API server checks them."""
    return call(BIN / "python", "-m", "tools.kubernetes_manifests")


def overlays() -> tuple[bool, str]:
    """Builds every overlay for Kubernetes and checks the result."""
    return call(BIN / "python", "-m", "tools.manifests")


def migrations() -> tuple[bool, str]:
    """The SQL that the migrations would run, checked for statements that hurt a live database."""
    passed, sql = call(BIN / "alembic", "upgrade", "head", "--sql", DATABASE_URL="postgresql+psycopg://offline/offline")
    if not passed:
        return False, sql
    with tempfile.NamedTemporaryFile("w", suffix=".sql") as file:
        file.write(sql)
        file.flush()
        return call(BIN / "squawk", "--config", ".squawk.toml", file.name)


def tracked() -> tuple[bool, str]:
    """Names of hosts and machines in committed files."""
    return call(sys.executable, "tools/check_tracked.py")


CHECKS: tuple[Callable[[], tuple[bool, str]], ...] = (
    types,  # the longest first
    ruff_check,
    ruff_format,
    guest_types,
    arrows,
    dependencies,
    templates,
    browser_code,
    spelling,
    yaml,
    manifests,
    overlays,
    migrations,
    tracked,
)


def timed(check: Callable[[], tuple[bool, str]]) -> LintResult:
    """One check with its time; a missing linter counts as failed."""
    start = time.monotonic()
    try:
        passed, output = check()
    except (OSError, StopIteration) as error:
        passed, output = False, f"could not be run: {error!r}"
    return LintResult(check.__name__, passed, output, time.monotonic() - start)


def main() -> int:
    """Prints a line per linter, the words of those that failed, and returns how it went."""
    checks = [check for check in CHECKS if not sys.argv[1:] or check.__name__ in sys.argv[1:]]
    with ThreadPoolExecutor(max_workers=2) as pool:
        results = list(pool.map(timed, checks))
    failed = [result for result in results if not result.passed]
    for result in failed:
        print(f"--- {result.name} ---\n{result.output.rstrip()}\n")
    for result in results:
        print(f"{'ok    ' if result.passed else 'FAILED'} {result.name:<14} {result.seconds:5.1f} s")
    return 1 if failed else 0


if __name__ == "__main__":
    sys.exit(main())
