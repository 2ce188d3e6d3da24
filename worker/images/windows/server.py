"""Guest server as three archives: its own Python, its packages, and its sources."""

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
"""Platform-independent packages (pyautogui and others); created by `make setup`."""
MODULE = "guest_server.windows.session"
PORT = 5000
PROXY = "127.0.0.1:3128"
_SECONDS = 600.0
_LEFT_OUT = {"__pycache__", "bin", "stubs"}
# Reproducible: an image of the same sources has the same server.
_DATE = (1980, 1, 1, 0, 0, 0)


class Python(Frozen):
    """The embeddable Python: a zip file without an installer."""

    version: str = Field(pattern=r"^3\.\d+\.\d+$")
    url: str = Field(pattern=r"^https://\S+\.zip$")
    sha256: Sha256

    @property
    def minor(self) -> str:
        """For example `3.12`, the version that packages are installed for."""
        return self.version.rsplit(".", 1)[0]


def read_python(file: Path = FILE) -> Python:
    """Entry of the list. Raises OSError or ValueError: it is ours, and tested."""
    return Python.model_validate(yaml.safe_load(file.read_text())["python"])


def install_packages(target: Path, python: Python) -> None:
    """Installs the packages for Windows into a folder, verified by the lock's hashes, from the configured index.

    Raises:
        Unavailable: They are not available.
    """
    command = [
        *(sys.executable, "-m", "uv", "pip", "install", "--quiet", "--no-deps", "--require-hashes"),
        *("--only-binary", ":all:", "--python-platform", "x86_64-pc-windows-msvc"),
        *("--python-version", python.minor, "--target", str(target), "-r", str(LOCK)),
    ]
    environment = {**os.environ, "UV_NO_PROGRESS": "1"}
    result = subprocess.run(command, capture_output=True, text=True, timeout=_SECONDS, check=False, env=environment)
    if result.returncode:
        raise Unavailable(
            f"the packages of {LOCK.name} cannot be downloaded: {result.stderr.strip()[-500:]}",
            code="guest_packages_missing",
        )
    if not PURE.is_dir():
        raise Unavailable(f"{PURE.name} is missing", code="guest_packages_missing", hint="Run `make setup`.")


def archive(*folders: Path, inside: str = "") -> bytes:
    """Reproducible zip file of folders' contents.

    Args:
        folders: sources; later ones add what earlier ones lack.
        inside: folder in the archive.
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


def api_version() -> str:
    """Version of the guest API in the sources, which are never imported here. Raises ValueError."""
    match = re.search(r'^API_VERSION = "([^"]+)"', (GUEST / "__init__.py").read_text(), re.MULTILINE)
    if match is None:
        raise ValueError(f"{GUEST} has no API_VERSION")
    return match[1]
