"""Environments of their own, for packages from PyPI that neither the service nor its tests have."""

import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path


def make_environment(folder: Path, version: str, packages: Sequence[str]) -> Path:
    """Makes the environment if it is not there; returns its Python.

    Args:
        folder: of the environment.
        version: Python's, for example `3.12`.
        packages: requirements.

    Raises:
        subprocess.CalledProcessError: it cannot be made; standard error has the reason.
    """
    python = folder / "bin" / "python"
    if not python.exists():
        uv = [sys.executable, "-m", "uv"]
        subprocess.run([*uv, "venv", "--quiet", "--python", version, str(folder)], check=True)
        subprocess.run([*uv, "pip", "install", "--quiet", "--python", str(python), *packages], check=True)
    return python
