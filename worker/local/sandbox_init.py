"""The stage: a forked child of the desktop supervisor, between fork and bubblewrap.

It enters the control groups, creates a private mount namespace with one size-limited tmpfs, prepares the home on it,
drops root, and becomes bubblewrap. All mounts are in that namespace, so they vanish with the desktop's last process,
however it ends.
"""

import contextlib
import fcntl
import json
import os
import resource
import signal
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import NoReturn

from worker.local import etc, kernel, namespaces, seccomp
from worker.local.desktop_kind import DesktopKind
from worker.local.layout import STAGE, SUDO, SandboxLayout, bwrap_command, chromium_parts, root_links
from worker.local.limits import DesktopLimits
from worker.local.overlay import make_home

_STAGE = Path(STAGE)
_OOM_SCORE = 800
"""If the host runs out of memory, its kernel kills desktops before databases and workers."""
_SHARED_MEMORY_SEGMENTS = 256
_MESSAGE_QUEUES = 64
_INOTIFY_INSTANCES = 64
_INOTIFY_WATCHES = 16384
_HIGH_FD = 200


@dataclass(frozen=True)
class SandboxInitSpec:
    """Parameters of the child.

    Attributes:
        title: argv[0] of the sandbox's processes, by which a later supervisor finds them.
        bwrap: the program.
        entrances: control group files to enter.
        user: (uid, gid) to change to; None = the current one, inside its own user namespace.
        template, guest, egress: folders of the host.
        stdin, stdout, stderr, listener, status: file descriptors for the sandbox and its status.
        flavour: kind of desktop.
        overlay: False = copy the home even if an overlay is available.
        command: command to run inside; empty = the kind's own.
    """

    title: str
    bwrap: str
    entrances: tuple[str, ...]
    user: tuple[int, int] | None
    template: Path
    guest: Path
    egress: Path
    hide: tuple[str, ...]
    limits: DesktopLimits
    memory_group: bool
    screen: tuple[int, int]
    flavour: DesktopKind
    stdin: int
    stdout: int
    stderr: int
    listener: int
    status: int
    overlay: bool = True
    command: tuple[str, ...] = ()


def enter(spec: SandboxInitSpec, report: int) -> NoReturn:
    """Becomes the sandbox; never returns. Runs in a freshly forked, single-threaded child.

    Args:
        spec: parameters.
        report: pipe for one JSON object: how the home was created, or the error. It closes when bubblewrap starts.
    """
    report = fcntl.fcntl(report, fcntl.F_DUPFD_CLOEXEC, _HIGH_FD)
    try:
        supervisor = os.getppid()
        os.umask(0o022)
        _reset_signals()
        _join(spec.entrances)
        footing = namespaces.leave(spec.user)
        home, notes = _prepare(spec, footing)
        os.write(report, json.dumps({"home": home, "notes": notes}).encode())
        if footing.owner is not None:
            namespaces.become(*footing.owner)
        _bind_to(supervisor)
        _execute(spec)
    except BaseException as error:  # noqa: BLE001 - this is the child's outermost frame: whatever it was is reported.
        os.write(report, json.dumps({"error": f"{type(error).__name__}: {error}"[:2000]}).encode())
    os._exit(127)


def _reset_signals() -> None:
    """Restores default signal handling, which programs expect."""
    signal.set_wakeup_fd(-1)
    for number in (signal.SIGCHLD, signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGPIPE):
        signal.signal(number, signal.SIG_DFL)


def _join(entrances: Sequence[str]) -> None:
    for entrance in entrances:
        Path(entrance).write_text("0")
    Path("/proc/self/oom_score_adj").write_text(str(_OOM_SCORE))


def _prepare(spec: SandboxInitSpec, footing: namespaces.MountSetup) -> tuple[str, list[str]]:
    """Prepares the stage. Returns how the home was created, and what could not be limited."""
    kernel.mount("none", "/", flags=kernel.MS_REC | kernel.MS_PRIVATE)
    # Opened while they are readable, and before the stage's file system covers them. Python closes them at exec.
    template = os.open(spec.template, os.O_PATH | os.O_DIRECTORY)
    bound = {name: os.open(path, os.O_PATH | os.O_DIRECTORY) for name, path in _bound(spec)}
    namespaces.settle(spec.user, footing)
    notes = _bound_kernel_objects(spec.limits, in_user_namespace=footing.in_user_namespace)
    inodes = max(10_000, spec.limits.home // 4096)
    flags = kernel.MS_NOSUID | kernel.MS_NODEV
    kernel.mount("tmpfs", _STAGE, "tmpfs", flags, f"size={spec.limits.home},nr_inodes={inodes},mode=755")
    _write_etc()
    for name, folder in bound.items():
        (_STAGE / name).mkdir()
        kernel.mount(f"/proc/self/fd/{folder}", _STAGE / name, flags=kernel.MS_BIND)
    home, problem = make_home(template, footing, spec.flavour.folders, overlay=spec.overlay)
    return home, [*notes, *([f"no overlay home: {problem}"] if problem else [])]


def _bound(spec: SandboxInitSpec) -> tuple[tuple[str, Path], ...]:
    """Folders of the host by their name on the stage."""
    more = ((_name_of(inside), folder) for inside, folder in spec.flavour.binds.items())
    return ("guest", spec.guest), ("egress", spec.egress), *more


def _name_of(inside: str) -> str:
    return Path(inside).name


def _bound_kernel_objects(limits: DesktopLimits, *, in_user_namespace: bool) -> list[str]:
    """Limits kernel objects that no process needs to have mapped or open. Returns what could not be limited.

    Kernels before 5.19 refuse ordinary users the settings of System V, and in some containers settings are read-only.
    """
    settings = {
        "kernel/shmall": limits.shm // resource.getpagesize(),
        "kernel/shmmni": _SHARED_MEMORY_SEGMENTS,
        "kernel/msgmni": _MESSAGE_QUEUES,
    }
    if in_user_namespace:
        # The kernel counts these for the user outside, too: if a desktop used up all, the worker itself could get none.
        settings |= {"user/max_inotify_instances": _INOTIFY_INSTANCES, "user/max_inotify_watches": _INOTIFY_WATCHES}
    notes = []
    for name, value in settings.items():
        try:
            Path("/proc/sys", name).write_text(str(value))
        except OSError as error:
            notes.append(f"{name} is not limited here ({error.strerror})")
    return notes


def _write_etc() -> None:
    for name, text in etc.generate_files().items():
        file = _STAGE / "etc" / name
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(text)
        file.chmod(0o644)


def _bind_to(supervisor: int) -> None:
    """Makes this process die with the supervisor; at once if that has died already."""
    kernel.forbid_new_privileges()
    kernel.die_with_parent(signal.SIGKILL)
    if os.getppid() != supervisor:
        os._exit(1)


def _execute(spec: SandboxInitSpec) -> NoReturn:
    """Arranges the file descriptors and becomes bubblewrap."""
    program = seccomp.host_program(memfd=spec.memory_group)
    plan = SandboxLayout(
        links=root_links(),
        etc=tuple(etc.generate_files()),
        limits=spec.limits,
        width=spec.screen[0],
        height=spec.screen[1],
        data_limit=not spec.memory_group,
        status_fd=_out_of_the_way(spec.status),
        seccomp_fd=None if program is None else _memory_file(program),
        hide=spec.hide,
        chromium=chromium_parts(),
        sudo=SUDO.is_file(),
        environment=spec.flavour.environment,
        binds={inside: _name_of(inside) for inside in spec.flavour.binds},
        command=spec.command or spec.flavour.command,
    )
    # First move all out of the way: a source may have one of the numbers 0 to 3.
    sources = [_out_of_the_way(fd) for fd in (spec.stdin, spec.stdout, spec.stderr, spec.listener)]
    for number, source in enumerate(sources):
        os.dup2(source, number)
    _keep_only({0, 1, 2, 3, plan.status_fd, plan.seccomp_fd})
    os.execve(spec.bwrap, [spec.title, *bwrap_command(plan)], {})  # noqa: S606 - no shell is wanted


def _out_of_the_way(fd: int) -> int:
    """A duplicate with a high number that survives exec."""
    return fcntl.fcntl(fd, fcntl.F_DUPFD, _HIGH_FD)


def _keep_only(fds: set[int | None]) -> None:
    """Closes every other descriptor at exec. A remaining one would be a way out of the sandbox."""
    for entry in list(Path("/proc/self/fd").iterdir()):
        if int(entry.name) not in fds:
            # The descriptor of this listing is closed by now.
            with contextlib.suppress(OSError):
                os.set_inheritable(int(entry.name), False)


def _memory_file(data: bytes) -> int:
    """A file descriptor with `data` that survives exec."""
    handle = os.memfd_create("filter")
    os.write(handle, data)
    os.lseek(handle, 0, os.SEEK_SET)
    return _out_of_the_way(handle)
