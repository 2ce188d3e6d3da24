"""Child processes of `deskarena image`: builders of images, and the worker's program that creates templates.

The command line does not import the worker. Each program is started by module name, with arguments from pure functions.
"""

import os
import signal
import subprocess
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path

import backend

ROOT = Path(backend.__file__).resolve().parent.parent
BUILDERS: Mapping[str, str] = {"linux": "worker.images.linux", "windows": "worker.images.windows"}
"""System -> module that builds its images: `python -m MODULE --data DIR [options]`."""
PREPARE = "worker.commands.prepare_image"


def builder(system: str, data: Path, words: Sequence[str]) -> tuple[str, ...]:
    """Command that builds an image; `words` are the builder's own options."""
    return (*_module(BUILDERS[system]), "--data", str(data), *words)


def preparer(name: str, screen: tuple[int, int]) -> tuple[str, ...]:
    """Command that creates an image's template for a screen (width, height); it prints one JSON object."""
    return (*_module(PREPARE), name, "--screen", f"{screen[0]}x{screen[1]}")


def environment(data: Path, outer: Mapping[str, str], accelerator: str | None) -> dict[str, str]:
    """The caller's environment with the settings that options override.

    Args:
        data: the data folder.
        outer: the caller's environment.
        accelerator: how machines run; None = the setting.
    """
    options = {"DESKARENA_ACCELERATOR": accelerator} if accelerator else {}
    return {**outer, "PYTHONPATH": str(ROOT), "DESKARENA_DATA_DIR": str(data), **options}


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs a command on this terminal; returns its exit code, 130 if interrupted."""
    return _end(subprocess.Popen(list(argv), env=dict(env)))


def ask(argv: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
    """Like `run`, but captures stdout; returns exit code and output."""
    process = subprocess.Popen(list(argv), env=dict(env), stdout=subprocess.PIPE, text=True)
    stdout = process.stdout
    with process:
        reply = stdout.read() if stdout is not None else ""
        return _end(process), reply


def _end(process: "subprocess.Popen[bytes] | subprocess.Popen[str]") -> int:
    while True:
        try:
            code = process.wait()
        except KeyboardInterrupt:
            continue  # The terminal has signalled the child as well: it ends gracefully, then we do.
        return 128 + signal.SIGINT if code == -signal.SIGINT else code


def _module(name: str) -> tuple[str, ...]:
    # -P: do not search the working folder for modules.
    return (sys.executable, "-P", "-m", name)


def own_environment() -> Mapping[str, str]:
    """The caller's environment."""
    return os.environ
