"""Code of the evaluator child: its imports, and compiled copies that it can read.

Compiled files beside the sources may be unreadable for the child's user, and compiling for each verdict costs half a
second of CPU time. So the worker compiles once, into a folder that children see read-only.
"""

import contextlib
import hashlib
import importlib
import logging
import os
import pkgutil
import subprocess
import sys
from pathlib import Path
from threading import Thread

from worker.evaluation.sandbox import SandboxPaths, environment

# Imported lazily by readers of documents and pictures.
LATE = ("PIL.Image", "defusedxml.ElementTree", "docx", "numpy", "openpyxl")
COMPILE_SECONDS = 120.0
STAMP = "compiled-for"
"""File that says for which sources the folder was filled."""
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


def compile_ahead(paths: SandboxPaths) -> Thread | None:
    """Fills the folder of compiled files in the background. Without it verdicts are only slower.

    Returns:
        The thread; None if there is no folder, or it has the files of these sources.
    """
    if paths.compiled is None or _stamp(paths.compiled) == _sources(paths):
        return None
    thread = Thread(target=_compile, args=(paths, paths.compiled), name="compile", daemon=True)
    thread.start()
    return thread


def _compile(paths: SandboxPaths, folder: Path) -> None:
    variables = {**environment(paths), "PYTHONPYCACHEPREFIX": str(folder)}
    del variables["PYTHONDONTWRITEBYTECODE"]
    sources = _sources(paths)
    command = [paths.python, "-P", "-c", "from worker.evaluation.code_cache import load_all; load_all()"]
    try:
        folder.mkdir(parents=True, exist_ok=True)
        subprocess.run(
            command, env=variables, cwd="/", check=True, capture_output=True, timeout=COMPILE_SECONDS, umask=0o022
        )
        for path in (folder, *(path for path in folder.rglob("*") if path.is_dir())):
            path.chmod(0o755)
        (folder / STAMP).write_text(sources)
    except (OSError, subprocess.SubprocessError) as error:
        logger.warning("evaluators not precompiled: %s", error)


def _stamp(folder: Path) -> str:
    try:
        return (folder / STAMP).read_text()
    except OSError:
        return ""


def _sources(paths: SandboxPaths) -> str:
    """Changes with the interpreter and with the sources: Python compares a compiled file with its source's time."""
    facts = hashlib.sha256(f"{paths.python} {sys.version}".encode())
    for root in ("backend/domain", "worker/evaluation"):
        for path in sorted((paths.code / root).rglob("*.py")):
            status = path.stat()
            facts.update(f"{path} {status.st_mtime_ns} {status.st_size}".encode())
    return facts.hexdigest()


def compiled_folder(data: Path) -> Path:
    """Their place in a worker's data folder."""
    return data / "cache" / f"evaluators-{os.getuid()}"
