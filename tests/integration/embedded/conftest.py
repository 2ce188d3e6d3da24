"""An interpreter that an ordinary user can run, even where ours lies under root's private home."""

import os
import shutil
import site
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.conftest import ROOT

NOBODY = 65534
SYSTEM_PYTHON = "/usr/bin/python3"


@pytest.fixture(scope="session")
def ordinary_python(tmp_path_factory: pytest.TempPathFactory) -> Iterator[list[str]]:
    """A command that runs Python with all our packages as the user `nobody`."""
    if os.geteuid() != 0:
        pytest.skip("needs root: an ordinary user's tests run as that user anyway")
    version = subprocess.run(
        [SYSTEM_PYTHON, "-c", "import sys; print(sys.version_info[:2])"], capture_output=True, text=True, check=False
    ).stdout.strip()
    if version != str(sys.version_info[:2]):
        pytest.skip(f"needs {SYSTEM_PYTHON} of our own version, so that it can load our packages")
    folder = Path("/var/tmp") / f"deskarena-test-{os.getpid()}"
    folder.mkdir(mode=0o755)
    try:
        subprocess.run([SYSTEM_PYTHON, "-m", "venv", "--without-pip", folder / "venv"], check=True, timeout=60)
        packages = folder / "venv" / "lib" / f"python3.{sys.version_info.minor}" / "site-packages"
        (packages / "ours.pth").write_text("\n".join([*site.getsitepackages(), str(ROOT)]))
        command = [
            *("setpriv", f"--reuid={NOBODY}", f"--regid={NOBODY}", "--clear-groups"),
            *("env", "-i", "PATH=/usr/bin:/bin", f"HOME={folder}", str(folder / "venv" / "bin" / "python"), "-P"),
        ]
        if subprocess.run([*command, "-c", "import backend, psycopg"], capture_output=True, check=False).returncode:
            pytest.skip(f"needs a checkout that other users can read, {ROOT} is not")
        yield command
    finally:
        shutil.rmtree(folder)


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
