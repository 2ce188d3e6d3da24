"""What `deskarena image` starts: builders of images, and the worker's part that freezes templates.

The command line never needs the worker's code. So each is a process of its own, started by name as `up` starts the
worker, and its arguments are made by pure functions.
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
"""System -> the module that builds its images: `python -m MODULE --data DIR [options of its own]`."""
PREPARE = "worker.commands.prepare_image"


def builder(system: str, data: Path, words: Sequence[str]) -> tuple[str, ...]:
    """The command that builds an image; `words` are the builder's own options."""
    return (*_module(BUILDERS[system]), "--data", str(data), *words)


def preparer(name: str, screen: tuple[int, int]) -> tuple[str, ...]:
    """The command that makes an image's template for a screen (width, height); it prints one JSON object."""
    return (*_module(PREPARE), name, "--screen", f"{screen[0]}x{screen[1]}")


def environment(data: Path, outer: Mapping[str, str], accelerator: str | None) -> dict[str, str]:
    """The caller's own environment, which a builder needs, with the options that are settings.

    Args:
        data: the data folder.
        outer: the caller's environment.
        accelerator: how machines run; None = as set.
    """
    options = {"DESKARENA_ACCELERATOR": accelerator} if accelerator else {}
    return {**outer, "PYTHONPATH": str(ROOT), "DESKARENA_DATA_DIR": str(data), **options}


def run(argv: Sequence[str], env: Mapping[str, str]) -> int:
    """Runs a command on this terminal to its end; its exit code, 130 for one that was interrupted."""
    return _end(subprocess.Popen(list(argv), env=dict(env)))


def ask(argv: Sequence[str], env: Mapping[str, str]) -> tuple[int, str]:
    """The same for one that answers on standard output: its exit code, and what it said."""
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
            continue  # The terminal has told the child, too: it ends in good order, and then we do.
        return 128 + signal.SIGINT if code == -signal.SIGINT else code


def _module(name: str) -> tuple[str, ...]:
    # -P: the working folder must not be searched for modules.
    return (sys.executable, "-P", "-m", name)


def own_environment() -> Mapping[str, str]:
    """The caller's environment."""
    return os.environ
