"""Desktops for tests of getters, with files and answering programs."""

import subprocess
import sys
from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import GuestRefused
from backend.domain.ports.desktop import ExecResult
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop


def linux(files: Mapping[str, bytes] | None = None, *, python: str | None = None, **more: Any) -> FakeContext:
    """A Linux desktop. `python`: what Python source prints in it; None = it cannot be run. `more`: its attributes."""
    desktop = FakeDesktop()
    desktop.files = dict(files or {})
    desktop.commands["python"] = prints(python) if python is not None else refuses("no python here")
    for name, value in more.items():
        setattr(desktop, name, value)
    return FakeContext(desktop)


def windows(files: Mapping[str, bytes] | None = None, **more: Any) -> FakeContext:
    """A Windows desktop."""
    return linux(files, platform="Windows", **more)


def prints(text: str) -> Any:
    """A command that prints this and ends well."""
    return lambda _: ExecResult(returncode=0, output=text)


def refuses(why: str, kind: str = "not_available") -> Any:
    """A command or route that the guest refuses."""

    def refuse(_: Any) -> Any:
        raise GuestRefused(why, kind=kind)

    return refuse


def says_no(_: Mapping[str, Any]) -> Any:
    """A check of the guest API whose answer is no."""
    raise GuestRefused("it is not so", kind="not_found")


def real_python(words: Sequence[str]) -> ExecResult:
    """Runs the source that a getter sends to a desktop with this Python: it must work outside of a fake, too."""
    done = subprocess.run([sys.executable, "-c", words[0]], capture_output=True, text=True, timeout=30, check=False)
    return ExecResult(returncode=done.returncode, output=done.stdout, error=done.stderr)
