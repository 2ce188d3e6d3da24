"""An overlay that is mounted and cannot be written to: its file system is full, closed, or forgets."""

import os
import subprocess
import sys

import pytest

_CODE = """
import os, subprocess, sys
from pathlib import Path
from worker.local.overlay import _try_file, _try_folder
folder = Path(sys.argv[1])
subprocess.run(["mount", "-t", "tmpfs", "-o", "size=64k", "none", folder], check=True)
(folder / "settings").write_text("old")
(folder / "sub" / "file").mkdir(parents=True)
if sys.argv[2]:
    subprocess.run(["mount", "-o", f"remount,{sys.argv[2]}", folder], check=True)
if sys.argv[3]:
    (folder / "full").write_bytes(bytes(60 * 1024))
    (folder / "settings").write_bytes(bytes(4096))
try:
    _try_file(folder)
    _try_folder(folder / "sub")
except OSError as error:
    print(type(error).__name__, error.errno)
else:
    print("works")
"""


def tried(folder: object, *, mount: str = "", full: bool = False) -> str:
    """The result for a home on its own file system, in its own mount namespace."""
    flags = "-m" if os.geteuid() == 0 else "-Urm"
    if subprocess.run(["unshare", flags, "true"], capture_output=True, check=False, timeout=60).returncode:
        pytest.skip("needs a mount namespace of its own")
    command = ["unshare", flags, sys.executable, "-c", _CODE, str(folder), mount, "full" if full else ""]
    done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=60)
    return done.stdout.strip()


def test_working_overlay_passes_the_trial(tmp_path: object) -> None:
    assert tried(tmp_path) == "works"


def test_read_only_overlay_is_reported(tmp_path: object) -> None:
    assert tried(tmp_path, mount="ro") == "OSError 30"


def test_full_overlay_is_reported(tmp_path: object) -> None:
    assert tried(tmp_path, full=True) == "OSError 28"
