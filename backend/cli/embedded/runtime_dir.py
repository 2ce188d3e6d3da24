"""Runtime folder of a data folder: short socket paths, and copies of binaries that another user may run.

It is outside the data folder for two reasons: a unix socket's path may have at most 107 bytes, and the servers' user
cannot enter a data folder or an interpreter below a private home.
"""

import hashlib
import os
import shutil
import stat
import subprocess
import tempfile
from dataclasses import dataclass
from pathlib import Path

from backend.cli.embedded.process_spawn import Identity
from backend.cli.errors import StackError

PROBE_SECONDS = 20.0


def runtime_bases() -> tuple[Path, ...]:
    """Candidate parents of runtime folders, best first. /run is writable by root only, but is often mounted noexec."""
    return (Path("/run"), Path("/var/lib"), Path("/tmp")) if os.geteuid() == 0 else (Path("/tmp"), Path("/var/tmp"))  # noqa: S108


def runtime_folder(data_dir: Path, base: Path) -> Path | None:
    """Creates the runtime folder of `data_dir` in `base`; None if it belongs to somebody else or cannot be written."""
    folder = base / runtime_name(data_dir)
    mode = 0o711 if os.geteuid() == 0 else 0o700
    try:
        folder.mkdir(exist_ok=True)
        status = folder.lstat()
        if not stat.S_ISDIR(status.st_mode) or status.st_uid != os.geteuid():
            return None
        folder.chmod(mode)
    except OSError:
        return None
    return folder


def runtime_name(data_dir: Path) -> str:
    """The same short name for the same folder and user, however long the path is."""
    return f"deskarena-{os.geteuid()}-{hashlib.sha256(os.fsencode(data_dir.resolve())).hexdigest()[:12]}"


def any_runtime_folder(data_dir: Path) -> Path:
    """The runtime folder of `data_dir` in the first usable place."""
    for base in runtime_bases():
        if (folder := runtime_folder(data_dir, base)) is not None:
            return folder
    return Path(tempfile.mkdtemp(prefix="deskarena-"))


def owned_folder(path: Path, identity: Identity | None) -> Path:
    """Makes `path` a folder that only its server's user can enter."""
    path.mkdir(exist_ok=True)
    path.chmod(0o700)
    if identity is not None:
        os.chown(path, identity.uid, identity.gid)
    return path


def version_line(program: Path, identity: Identity | None) -> str | None:
    """Output of `program --version` run as `identity`; None if it cannot be run."""
    try:
        result = subprocess.run(
            [program, "--version"],
            stdout=subprocess.PIPE,
            stderr=subprocess.DEVNULL,
            text=True,
            timeout=PROBE_SECONDS,
            cwd="/",
            env={},
            check=False,
            user=identity.uid if identity else None,
            group=identity.gid if identity else None,
            extra_groups=[] if identity else None,
        )
    except (OSError, subprocess.TimeoutExpired):
        return None
    return result.stdout.strip() if result.returncode == 0 else None


@dataclass(frozen=True, kw_only=True)
class Install:
    """A wheel's files in a place where its server can run.

    Args:
        root: Replaces site-packages: the wheel's own folder, or a copy.
        identity: User that runs it.
        version: Output of `--version`.
        copies: Folders to remove when the server has ended.
    """

    root: Path
    identity: Identity | None
    version: str
    copies: tuple[Path, ...] = ()


def runnable(root: Path, parts: tuple[str, ...], identity: Identity | None, data_dir: Path) -> Install:
    """A folder whose `parts` the user `identity` can run: `root` itself, or else a copy.

    Args:
        root: Folder of the installed wheel (site-packages).
        parts: Paths to copy, relative to `root`; folders are copied as a whole. The first is the program.
        identity: User that will run it.
        data_dir: Data folder whose runtime folder holds the copy.

    Raises:
        StackError: It cannot be run anywhere.
    """
    program = parts[0]
    if (version := version_line(root / program, identity)) is not None:
        return Install(root=root, identity=identity, version=version)
    for base in runtime_bases():
        folder = runtime_folder(data_dir, base)
        if folder is None:
            continue
        copy = folder / parts[0].split("/")[0]
        _copy(root, parts, copy)
        if (version := version_line(copy / program, identity)) is not None:
            return Install(root=copy, identity=identity, version=version, copies=(copy,))
        shutil.rmtree(copy, ignore_errors=True)
    places = ", ".join(str(base) for base in runtime_bases())
    raise StackError(
        f"{root / program} cannot be run with dropped privileges, nor can a copy of it in "
        f"{places}. Run as an ordinary user, or set DATABASE_URL and REDIS_URL to servers of "
        "your own.",
        code="server_not_executable",
    )


def _copy(root: Path, parts: tuple[str, ...], target: Path) -> None:
    shutil.rmtree(target, ignore_errors=True)
    for part in parts:
        source, copied = root / part, target / part
        copied.parent.mkdir(parents=True, exist_ok=True)
        if source.is_dir():
            shutil.copytree(source, copied, symlinks=True)
        else:
            shutil.copy2(source, copied)
    for path in (target, *target.rglob("*")):
        if not path.is_symlink():
            path.chmod(0o755 if path.is_dir() or path.stat().st_mode & stat.S_IXUSR else 0o644)
