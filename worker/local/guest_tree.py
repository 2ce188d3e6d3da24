"""The copy of the guest server that desktops run.

A copy, because the checkout may lie in a private home that the desktop's user cannot read, because somebody may edit
it while desktops run, and because it is compiled once: byte code is not written from inside, where it is read-only.
"""

import os
import shutil
import subprocess
import uuid
from pathlib import Path

from worker.local.home import content_hash, copy_tree

PYTHON = "/usr/bin/python3"


def prepare(cache: Path, server: Path, site: Path) -> Path:
    """The folder to bind at /opt/guest: `guest_server` and `site`, under `cache`, keyed by content.

    Args:
        cache: a folder that survives, on a file system that desktops' users may read through an open folder.
        server: the guest_server package.
        site: third-party packages for the desktop's Python (pyautogui).

    Raises:
        OSError: a source is missing, the cache cannot be written or the code does not compile.
    """
    for source in (server, site):
        if not source.is_dir():
            raise FileNotFoundError(f"{source} is missing: run `make setup`")
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
    # Unchecked hashes: the tree never changes, so importing needs no look at the sources.
    command = [PYTHON, "-I", "-m", "compileall", "-q", "--invalidation-mode", "unchecked-hash", str(partial)]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120, check=False, env={})
    if done.returncode:
        raise OSError(f"the guest server does not compile: {(done.stdout + done.stderr)[-2000:]}")


def _publish(partial: Path, target: Path) -> None:
    """Moves the finished tree into place; another worker may have been faster, with the same content."""
    try:
        partial.rename(target)
    except OSError:
        if not os.path.isdir(target):  # noqa: PTH112 - Path.is_dir hides permission errors in some versions.
            raise
