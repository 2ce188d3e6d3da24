"""Our interpreter and checkout as an ordinary user has them, even where they lie under root's private home."""

import os
import shlex
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOBODY = 65534
OTHERS_MAY_ENTER = 0o001


def closed_parent(path: Path) -> Path | None:
    """The topmost folder on the way to `path` that others cannot enter."""
    return next((p for p in reversed(path.parents) if not p.stat().st_mode & OTHERS_MAY_ENTER), None)


def opening_script(paths: list[Path], hold: Path) -> str:
    """A shell script that makes `paths` reachable for everybody in its mount namespace and goes on as nobody.

    Over each closed folder lies an empty one in which nothing but the wanted paths appears.
    """
    lines = ["set -e"]
    closed = {path: parent for path in paths if (parent := closed_parent(path)) is not None}
    for number, path in enumerate(closed):
        (hold / str(number)).mkdir()
        lines.append(f"mount --rbind {shlex.quote(str(path))} {hold}/{number}")
    lines += [f"mount -t tmpfs -o mode=755 tmpfs {shlex.quote(str(parent))}" for parent in sorted(set(closed.values()))]
    for number, path in enumerate(closed):
        lines += [f"mkdir -p {shlex.quote(str(path))}", f"mount --rbind {hold}/{number} {shlex.quote(str(path))}"]
    lines.append(f'exec setpriv --reuid={NOBODY} --regid={NOBODY} --clear-groups "$@"')
    return "\n".join(lines)


@pytest.fixture(scope="session")
def ordinary_python() -> Iterator[list[str]]:
    """A command that runs our Python as the user `nobody`."""
    if os.geteuid() != 0:
        pytest.skip("needs root: an ordinary user's tests run as that user anyway")
    hold = Path("/var/tmp") / f"deskarena-test-hold-{os.getpid()}"
    hold.mkdir(mode=0o755)
    script = opening_script([Path(sys.base_prefix), ROOT], hold)
    python = ("env", "-i", "PATH=/usr/bin:/bin", "HOME=/var/tmp", sys.executable, "-P")
    command = ["unshare", "--mount", "--propagation", "private", "sh", "-c", script, "sh", *python]
    try:
        probe = subprocess.run([*command, "-c", "import backend"], capture_output=True, text=True, check=False, cwd="/")
        if probe.returncode:
            pytest.skip(f"needs the right to mount, to open {sys.base_prefix} and {ROOT} for others: {probe.stderr}")
        yield command
    finally:
        # Never rmtree: if a mount had leaked, it would empty what was mounted.
        for folder in (*hold.iterdir(), hold):
            folder.rmdir()


@pytest.fixture
def ordinary_folder(ordinary_python: list[str]) -> Iterator[Path]:
    """A folder that belongs to that user."""
    folder = Path("/var/tmp") / f"deskarena-test-data-{os.getpid()}"
    folder.mkdir(mode=0o700)
    os.chown(folder, NOBODY, NOBODY)
    try:
        yield folder
    finally:
        shutil.rmtree(folder)
