"""Command line that starts a child with as few privileges as this machine allows."""

import json
import os
import sys
from collections.abc import Sequence
from dataclasses import asdict, dataclass
from enum import StrEnum
from pathlib import Path

import backend
import worker
from worker.evaluation.limits import OWN_UID, ChildLimits

INSIDE = "/evidence"
COMPILED = "/compiled"
TEMP = "/tmp"  # noqa: S108 - a file system of the child's own.
TEMP_BYTES = 2**30
"""Size of its temporary file system, which is in memory."""


class Sandbox(StrEnum):
    """Sandboxes for the child, best first. `doctor` and the worker's row show which one is used.

    - `bwrap_own_user`: the worker is root: namespaces for all but users, its own user id, no capabilities.
    - `bwrap`: namespaces for everything, users included.
    - `unshare_own_user`, `own_user`: the worker is root, but a private view of files is not available (in a container,
      for instance): its own user id, with or without network and process namespaces.
    - `unshare`: no network and no other processes, but the worker's user and view of files.
    - `limits`: resource limits, and connections from Python code are refused. Nothing better works here.
    """

    BWRAP_OWN_USER = "bwrap_own_user"
    BWRAP = "bwrap"
    UNSHARE_OWN_USER = "unshare_own_user"
    OWN_USER = "own_user"
    UNSHARE = "unshare"
    LIMITS = "limits"

    @property
    def own_user(self) -> bool:
        """Whether the child runs as another user, which needs root."""
        return self.value.endswith("own_user")

    @property
    def has_view(self) -> bool:
        """Whether the child has its own view of files."""
        return self.value.startswith("bwrap")


@dataclass(frozen=True)
class SandboxPaths:
    """Paths of the child's code; each is bound read-only under its own name.

    Attributes:
        python: the interpreter.
        code: folder with our packages.
        readable: folders that the child may read, in the order of binding.
        compiled: folder of compiled files; None = none.
    """

    python: str
    code: Path
    readable: tuple[Path, ...]
    compiled: Path | None = None


def here(compiled: Path | None = None) -> SandboxPaths:
    """This process's interpreter and packages, with a folder for compiled files."""
    packages = [Path(next(iter(package.__path__))).resolve() for package in (backend, worker)]
    prefixes = [Path(sys.base_prefix).resolve(), Path(sys.prefix).resolve(), Path(sys.executable).resolve().parent]
    outside = [prefix for prefix in prefixes if not prefix.is_relative_to("/usr")]
    return SandboxPaths(sys.executable, packages[0].parent, tuple(dict.fromkeys([*outside, *packages])), compiled)


def candidates() -> tuple[Sandbox, ...]:
    """Sandboxes to test on this machine, best first."""
    return tuple(sandbox for sandbox in Sandbox if os.geteuid() == 0 or not sandbox.own_user)


def command(  # noqa: PLR0913 - all that decides the line
    sandbox: Sandbox, sandbox_paths: SandboxPaths, blobs: Path, limits: ChildLimits, *, root: bool, looks: bool = False
) -> list[str]:
    """The whole command. Pure, except that it checks which system folders are links.

    Args:
        sandbox: sandbox to use.
        sandbox_paths: interpreter and code.
        blobs: folder with the evidence.
        limits: applied by the child itself before it reads anything.
        root: whether the worker is root.
        looks: whether it answers several requests.
    """
    evidence = INSIDE if sandbox.has_view else str(blobs)
    child = _child(sandbox_paths, evidence, limits, OWN_UID if sandbox.own_user else None)
    child += ["--looks"] if looks else []
    if sandbox.has_view:  # Only behind such a fence may evaluation functions that others wrote run.
        return [*_bwrap(sandbox_paths, blobs, own_user=sandbox.own_user), *child, "--foreign"]
    if sandbox in {Sandbox.UNSHARE, Sandbox.UNSHARE_OWN_USER}:
        return ["unshare", "--net", "--ipc", "--pid", "--fork", "--kill-child", *([] if root else ["-Ur"]), *child]
    return child


def _child(sandbox_paths: SandboxPaths, evidence: str, limits: ChildLimits, uid: int | None) -> list[str]:
    user = [] if uid is None else ["--uid", str(uid)]
    named = ["--evidence", evidence, "--limits", json.dumps(asdict(limits))]
    return [sandbox_paths.python, "-P", "-m", "worker.evaluation.child", *named, *user]


def _bwrap(sandbox_paths: SandboxPaths, blobs: Path, *, own_user: bool) -> list[str]:
    if own_user:
        unshare = ["--unshare-ipc", "--unshare-pid", "--unshare-net", "--unshare-uts", "--unshare-cgroup-try"]
        rights = ["--cap-drop", "ALL", "--cap-add", "CAP_SETUID", "--cap-add", "CAP_SETGID"]
    else:
        unshare, rights = ["--unshare-all"], ["--cap-drop", "ALL"]
    return [
        *("bwrap", *unshare, *rights, "--die-with-parent", "--new-session", "--clearenv"),
        *(word for name, value in _variables(sandbox_paths).items() for word in ("--setenv", name, value)),
        *(*_system(), "--dev", "/dev", "--perms", "1777", "--size", str(TEMP_BYTES), "--tmpfs", TEMP),
        *_parents(sandbox_paths.readable),
        # Tells whether the kernel killed a process for lack of memory: metrics that run programs must distinguish it
        # from a normal exit.
        *("--ro-bind-try", "/proc/vmstat", "/proc/vmstat"),
        *(word for path in sandbox_paths.readable for word in ("--ro-bind", str(path), str(path))),
        *(("--ro-bind-try", str(sandbox_paths.compiled), COMPILED) if sandbox_paths.compiled else ()),
        *("--ro-bind", str(blobs), INSIDE, "--chdir", "/", "--"),
    ]


def _variables(sandbox_paths: SandboxPaths) -> dict[str, str]:
    compiled = {"PYTHONPYCACHEPREFIX": COMPILED} if sandbox_paths.compiled else {}
    return {**environment(sandbox_paths), **compiled, "HOME": TEMP, "TMPDIR": TEMP}


def _parents(paths: Sequence[Path]) -> list[str]:
    """Parents of bound paths: bubblewrap would create them for its own user only."""
    above = {parent for path in paths for parent in path.parents if parent != Path("/")}
    return [word for folder in sorted(above) for word in ("--perms", "0755", "--dir", str(folder))]


def _system() -> list[str]:
    words = ["--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/ld.so.cache", "/etc/ld.so.cache"]
    for name in ("bin", "lib", "lib64", "lib32"):
        folder = Path("/", name)
        if folder.is_symlink():
            words += ["--symlink", str(folder.readlink()), str(folder)]
        elif folder.is_dir():
            words += ["--ro-bind", str(folder), str(folder)]
    return words


def environment(sandbox_paths: SandboxPaths) -> dict[str, str]:
    """Environment of a child without bubblewrap."""
    compiled = {"PYTHONPYCACHEPREFIX": str(sandbox_paths.compiled)} if sandbox_paths.compiled else {}
    return {
        **compiled,
        "PYTHONPATH": str(sandbox_paths.code),
        "OPENBLAS_NUM_THREADS": "1",
        "LANG": "C.UTF-8",
        "PATH": "/usr/bin:/bin:/usr/sbin:/sbin",
        "PYTHONDONTWRITEBYTECODE": "1",
    }
