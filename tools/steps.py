"""Building blocks of `make setup`: running commands, messages, steps that run once.

Each step leaves a stamp in `.setup/` with a key (a hash of its inputs) and its outputs. A step with an unchanged key
and existing outputs is skipped, so that a second call uses neither pip nor apt nor the network.

It runs on the machine's own Python before anything is installed, so it uses the standard library only.
"""

from __future__ import annotations

import hashlib
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterable
from pathlib import Path

ROOT = Path(__file__).resolve().parent.parent
STAMPS = ROOT / ".setup"
CERTIFICATES = Path("/etc/ssl/certs/ca-certificates.crt")


class PreparationError(Exception):
    """A step failed; the message says what to do next.

    Attributes:
        code: stable name of the case.
    """

    def __init__(self, message: str, *, code: str) -> None:
        super().__init__(message)
        self.code = code


def environment() -> dict[str, str]:
    """The caller's environment, with the machine's certificates as the ones to trust.

    uv and npm bring lists of their own, which know nothing of a company's proxy; pip already reads the
    machine's configuration.
    """
    env = dict(os.environ)
    env.setdefault("UV_SYSTEM_CERTS", "1")
    env.setdefault("UV_LINK_MODE", "copy")
    env["UV_NO_PROGRESS"] = "1"
    env["PIP_DISABLE_PIP_VERSION_CHECK"] = "1"
    if CERTIFICATES.exists():
        env.setdefault("SSL_CERT_FILE", str(CERTIFICATES))
        env.setdefault("NODE_EXTRA_CA_CERTS", str(CERTIFICATES))
    # An activated or configured environment must not redirect the installation out of .venv.
    for name in ("VIRTUAL_ENV", "PYTHONHOME", "PYTHONPATH", "PIP_USER", "PIP_TARGET", "PIP_PREFIX"):
        env.pop(name, None)
    return env


def run(command: list[str], *, extra: dict[str, str] | None = None) -> None:
    """Runs a command quietly; its output is shown only when it fails."""
    env = {**environment(), **(extra or {})}
    result = subprocess.run(command, cwd=ROOT, env=env, text=True, capture_output=True, check=False)
    if result.returncode != 0:
        tail = "\n".join((result.stdout + result.stderr).strip().splitlines()[-30:])
        raise PreparationError(
            f"this command failed with exit code {result.returncode}:\n  {' '.join(command)}\n{tail}",
            code="command_failed",
        )


def say(text: str) -> None:
    """Prints a message on stderr, so that `make run` keeps stdout for the product."""
    print(f"setup: {text}", file=sys.stderr, flush=True)


def key_of(files: Iterable[Path], *words: str) -> str:
    """Hashes files and words; equal keys mean that a step would do the same again."""
    digest = hashlib.sha256()
    for file in files:
        digest.update(file.name.encode() + b"\0" + file.read_bytes() + b"\0")
    for word in words:
        digest.update(word.encode() + b"\0")
    return digest.hexdigest()


def is_done(name: str, key: str) -> bool:
    """Whether a step was done with this key and its outputs still exist."""
    try:
        stamp = json.loads((STAMPS / f"{name}.json").read_text())
    except (OSError, ValueError):
        return False
    return stamp.get("key") == key and all((ROOT / path).exists() for path in stamp.get("made", []))


def step(name: str, key: str, message: str, work: Callable[[], list[Path]]) -> bool:
    """Runs a step unless its stamp is current; returns whether it succeeded."""
    if is_done(name, key):
        return False
    say(message)
    paths = [str(path.relative_to(ROOT)) for path in work()]
    missing = [path for path in paths if not (ROOT / path).exists()]
    if missing:
        raise PreparationError(f"step {name} ended well but did not make {', '.join(missing)}", code="output_missing")
    (STAMPS / f"{name}.json").write_text(json.dumps({"key": key, "made": paths}, indent=1))
    return True
