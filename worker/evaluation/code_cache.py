"""Code of the evaluator child: its imports, and compiled copies that it can read.

Compiled files beside the sources may be unreadable for the child's user, and compiling for each verdict costs half a
second of CPU time. So the worker compiles once, into a folder that children see read-only.
"""

import contextlib
import importlib
import logging
import os
import pkgutil
import subprocess
from pathlib import Path
from threading import Thread

from worker.evaluation.sandbox import SandboxPaths, environment

# Imported lazily by readers of documents and pictures.
LATE = ("PIL.Image", "defusedxml.ElementTree", "docx", "numpy", "openpyxl")
COMPILE_SECONDS = 120.0
logger = logging.getLogger(__name__)


def load_evaluators() -> None:
    """Imports every getter, metric and scoring protocol, and nothing else."""
    for kind in ("getters", "metrics", "protocols"):
        root = f"backend.domain.evaluators.{kind}"
        package = importlib.import_module(root)
        for module in pkgutil.walk_packages(package.__path__, f"{root}."):
            importlib.import_module(module.name)


def load_all() -> None:
    """Like `load_evaluators`, with lazy imports."""
    load_evaluators()
    importlib.import_module("worker.evaluation.child")
    importlib.import_module("worker.evaluation.serialization")
    for name in LATE:
        with contextlib.suppress(ImportError):
            importlib.import_module(name)


def compile_ahead(place: SandboxPaths) -> None:
    """Fills the folder of compiled files in the background. Without it verdicts are only slower."""
    if place.compiled is not None:
        Thread(target=_compile, args=(place, place.compiled), name="compile", daemon=True).start()


def _compile(place: SandboxPaths, folder: Path) -> None:
    variables = {**environment(place), "PYTHONPYCACHEPREFIX": str(folder)}
    del variables["PYTHONDONTWRITEBYTECODE"]
    command = [place.python, "-P", "-c", "from worker.evaluation.code_cache import load_all; load_all()"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            command, env=variables, cwd="/", check=True, capture_output=True, timeout=COMPILE_SECONDS, umask=0o022
        )
        for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            path.chmod(0o755)
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("evaluators not precompiled: %s", error)


def compiled_folder(data: Path) -> Path:
    """Their place in a worker's data folder."""
    return data / "cache" / f"evaluators-{os.getuid()}"
