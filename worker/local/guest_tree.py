"""Copy of the guest server for desktops.

A copy, because the desktop's user may be unable to read the checkout, because the checkout may be edited while desktops
run, and because it is compiled once: desktops cannot write byte code.
"""

import os
import shutil
import subprocess
import uuid
from pathlib import Path

from worker.local.home import content_hash, copy_tree

PYTHON = "/usr/bin/python3"


def prepare(cache: Path, server: Path, site: Path) -> Path:
    """Folder to bind at /opt/guest: `guest_server` and `site`, under `cache`, keyed by content.

    Args:
        cache: persistent folder on a file system that desktops' users may read through an open descriptor.
        server: the guest_server package.
        site: third-party packages of the desktop's Python (pyautogui).

    Raises:
        OSError: a source is missing, the cache is not writable or the code does not compile.
    """
    for source in (server, site):
        if not source.is_dir():
            raise FileNotFoundError(f"{source} is missing. Run `make setup`.")
    target = cache / f"guest-{content_hash(server)}-{content_hash(site)}"
    if not target.exists():
        cache.mkdir(parents=True, exist_ok=True)
        partial = cache / f".guest-{uuid.uuid4().hex}"
        try:
            _build(partial, server, site)
            _publish(partial, target)
        finally:
            shutil.rmtree(partial, ignore_errors=True)
    return target


def _build(partial: Path, server: Path, site: Path) -> None:
    partial.mkdir(mode=0o755)
    partial.chmod(0o755)
    copy_tree(server, partial / "guest_server")
    copy_tree(site, partial / "site")
    # Unchecked hashes: the tree never changes, so imports need not check the sources.
    command = [PYTHON, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(partial)]
    result = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env={})
    if result.returncode:
        raise OSError(f"the guest server does not compile: {(result.stdout + result.stderr)[-2000:]}")


def _publish(partial: Path, target: Path) -> None:
    """Moves the finished tree into place; another worker may have been faster, with the same content."""
    try:
        partial.rename(target)
    except OSError:
        if not os.path.isdir(target):  # noqa: PTH112 - Path.is_dir hides permission errors in some versions.
            raise
