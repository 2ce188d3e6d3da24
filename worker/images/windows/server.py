"""The guest server as three archives: a Python of its own, the packages that it needs, and its own sources."""

import hashlib
import io
import os
import re
import subprocess
import sys
import zipfile
from pathlib import Path

import yaml
from pydantic import Field

from backend.domain.errors import Unavailable
from backend.domain.machines.machine_image import Sha256
from backend.domain.model.task import Frozen
from worker.images.windows.settings import SOURCES

ROOT = SOURCES.parent
FILE = SOURCES / "windows" / "server.yaml"
LOCK = SOURCES / "windows" / "requirements.txt"
GUEST = SOURCES / "guest_server"
PURE = ROOT / ".guest-site"
"""pyautogui and its kind, for every platform alike; `make setup` makes it."""
MODULE = "guest_server.windows.session"
PORT = 5000
PROXY = "127.0.0.1:3128"
_SECONDS = 600.0
_LEFT_OUT = {"__pycache__", "bin"}
# The same bytes each time: an image of the same sources has the same server.
_DATE = (1980, 1, 1, 0, 0, 0)


class Python(Frozen):
    """The embeddable Python: a zip file without an installer."""

    version: str = Field(pattern=r"^3\.\d+\.\d+$")
    url: str = Field(pattern=r"^https://\S+\.zip$")
    sha256: Sha256

    @property
    def minor(self) -> str:
        """For example `3.12`: packages are made for it."""
        return self.version.rsplit(".", 1)[0]


def read_python(file: Path = FILE) -> Python:
    """What the list says. Raises OSError or ValueError: it is ours, and tested."""
    return Python.model_validate(yaml.safe_load(file.read_text())["python"])


def install_packages(target: Path, python: Python) -> None:
    """Fills a folder with the packages for Windows, checked by the lock's hashes; the machine's own index is asked.

    Raises:
        Unavailable: they cannot be had.
    """
    command = [
        *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes"),
        *("--only-binary", ":all:", "--python-platform", "x86_64-pc-windows-msvc"),
        *("--python-version", python.minor, "--target", str(target), "-r", str(LOCK)),
    ]
    environment = {**os.environ, "UV_NO_PROGRESS": "1"}
    done = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=environment)
    if done.returncode:
        raise Unavailable(
            f"the packages of {LOCK.name} cannot be had: {done.stderr.strip()[-500:]}", code="guest_packages_missing"
        )
    if not PURE.is_dir():
        raise Unavailable(f"{PURE.name} is missing", code="guest_packages_missing", hint="Run `make setup`.")


def archive(*folders: Path, inside: str = "") -> bytes:
    """A zip file of folders' contents, the same bytes for the same contents.

    Args:
        folders: whose contents are taken; a later one adds what an earlier one lacks.
        inside: folder of the archive that they go into.
    """
    files = {
        path.relative_to(folder): path
        for folder in reversed(folders)
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _LEFT_OUT & set(path.relative_to(folder).parts)
    }
    buffer = io.BytesIO()
    with zipfile.ZipFile(buffer, "w") as zipped:
        for name, path in sorted(files.items()):
            info = zipfile.ZipInfo(str(Path(inside) / name), _DATE)
            zipped.writestr(info, path.read_bytes(), zipfile.ZIP_DEFLATED)
    return buffer.getvalue()


def sources_hash(data: bytes) -> str:
    """The guest server's hash for `image.json`."""
    return hashlib.sha256(data).hexdigest()


def api_version() -> str:
    """The version of the guest API that the sources speak; they are never imported here. Raises ValueError."""
    match = re.search(r'^API_VERSION = "([^"]+)"', (GUEST / "__init__.py").read_text(), re.MULTILINE)
    if match is None:
        raise ValueError(f"{GUEST} does not say its API_VERSION")
    return match[1]
