"""The bubblewrap command that defines what a desktop sees, as a pure function.

Everything is an allow-list: paths of the host that are not listed do not exist in a desktop.
"""

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path, PurePosixPath

from worker.local.ca_bundle import BUNDLE, CHROMIUM_POLICIES, OWN_BUNDLE, POLICIES
from worker.local.limits import DesktopLimits, prlimit_command
from worker.local.seccomp import PROTECTED_PIDS

STAGE = PurePosixPath("/tmp")  # noqa: S108 - a private file system of the stage's own mount namespace lies there.
"""Where the stage mounts its preparations: every system has this folder, and the sandbox never sees this view."""

USER_ID = 1000
"""User id inside. Outside it is another one, without privileges."""

PROXY = "http://127.0.0.1:18888"
"""Where a desktop's own end of its egress listens; OSWorld's tasks name this port, too."""

EGRESS = "/run/egress"
"""Egress folder, which only the worker can write."""

ENVIRONMENT = {
    "HOME": "/home/user",
    "USER": "user",
    "LOGNAME": "user",
    "LANG": "en_US.UTF-8",
    "PATH": "/usr/bin:/bin:/usr/games",
    "XDG_RUNTIME_DIR": "/run/user",
    "PYTHONPATH": "/opt/guest:/opt/guest/site",
    "DESKARENA_EGRESS_SOCKET": f"{EGRESS}/gateway",
    "DESKARENA_EGRESS_PROXY": PROXY,
    "http_proxy": PROXY,
    "https_proxy": PROXY,
    "no_proxy": "localhost,127.0.0.1,::1",
}

ROOT_LINKS = ("bin", "sbin", "lib", "lib32", "lib64", "libx32")
"""Folders of the root that are links into /usr on a merged system, else real folders."""

ETC = (
    "ImageMagick-6",
    "X11",
    "alternatives",
    "bash.bashrc",
    "dconf",
    "debian_version",
    "fonts",
    "ghostscript",
    "gimp",
    "glvnd",
    "gtk-2.0",
    "gtk-3.0",
    "gtk-4.0",
    "host.conf",
    "inputrc",
    "java-17-openjdk",
    "ld.so.cache",
    "ld.so.conf",
    "ld.so.conf.d",
    "libpaper.d",
    "libreoffice",
    "locale.alias",
    "magic",
    "magic.mime",
    "mailcap",
    "mime.types",
    "os-release",
    "papersize",
    "protocols",
    "pulse",
    "python3",
    "python3.11",
    "services",
    "sgml",
    "ssl/certs",
    "terminfo",
    "vim",
    "vulkan",
    "xdg",
    "xml",
)
"""System settings that desktop programs read. None contains a secret or a person's name."""

VAR = (
    "cache/fontconfig",
    "lib/aspell",
    "lib/ghostscript",
    "lib/libreoffice",
    "lib/xkb",
    "spool/libreoffice",
)
"""Variable data that programs in /usr link to."""

CHROME = "/opt/google/chrome"
"""Path of Google Chrome on Ubuntu; Chromium is also here, with its program named `chrome`."""

CHROMIUM = Path("/usr/lib/chromium")
"""Debian's Chromium itself, behind its wrapper `/usr/bin/chromium`."""

SUDO = Path("/usr/bin/sudo")
STUBS = "guest_server/data/stubs"
"""Of the guest server: programs that say why they do nothing. They cover those of this host."""

HIDDEN = ("/usr/local", "/usr/src")
"""Parts of /usr that belong to the administrator, not to the distribution."""


@dataclass(frozen=True)
class SandboxLayout:
    """Parameters of one sandbox.

    Attributes:
        links: root folder -> link target, for those that are links on this host; the others are bound.
        etc: names of the generated files under `STAGE/etc`.
        hide: host folders that must be invisible although they are inside a bound one.
        sudo: this host has `sudo`, which could only fail inside.
        width, height: the screen in pixels.
        data_limit: limit each process's private memory (no memory cgroup on this host).
        status_fd: for bubblewrap's report of its child's process id.
        seccomp_fd: with the filter; None = no filter on this architecture.
        chromium: names of Chromium's files, including the program.
        command: command to run inside.
        environment: variables in addition to ENVIRONMENT; they take precedence.
        binds: path inside -> name of a read-only folder on the stage.
    """

    links: dict[str, str]
    etc: tuple[str, ...]
    limits: DesktopLimits
    width: int
    height: int
    data_limit: bool
    status_fd: int
    seccomp_fd: int | None
    chromium: tuple[str, ...] = ()
    sudo: bool = False
    command: tuple[str, ...] = ("/usr/bin/python3", "-m", "guest_server.linux.session")
    hide: tuple[str, ...] = HIDDEN
    environment: Mapping[str, str] = field(default_factory=dict)
    binds: Mapping[str, str] = field(default_factory=dict)


def _namespaces() -> list[str]:
    """Own user, network, process, host name and cgroup namespaces; the stage has created the IPC namespace already."""
    return [
        *("--unshare-user", "--disable-userns", "--uid", str(USER_ID), "--gid", str(USER_ID)),
        *("--unshare-net", "--unshare-pid", "--unshare-uts", "--unshare-cgroup-try"),
        *("--hostname", "desktop", "--die-with-parent", "--new-session", "--cap-drop", "ALL"),
    ]


def _system(links: dict[str, str], hide: Sequence[str]) -> list[str]:
    """The distribution's programs and settings, read-only, without the administrator's."""
    words = []
    # Created here with their permissions: folders that bubblewrap creates implicitly are accessible to its user only.
    for folder in ("/etc", "/etc/ssl", "/home", "/opt", "/var"):
        words += ["--perms", "0755", "--dir", folder]
    words += ["--ro-bind", "/usr", "/usr"]
    for name in ROOT_LINKS:
        if name in links:
            words += ["--symlink", links[name], f"/{name}"]
        else:
            words += ["--ro-bind-try", f"/{name}", f"/{name}"]
    for folder in ("etc", "var"):
        for name in ETC if folder == "etc" else VAR:
            words += ["--ro-bind-try", f"/{folder}/{name}", f"/{folder}/{name}"]
    for path in hide:
        words += ["--size", "4096", "--tmpfs", path, "--remount-ro", path]
    return words


def _chrome(parts: Sequence[str]) -> list[str]:
    """Chromium under Chrome's name: tasks kill it by that. It uses its real path, so a link is not enough."""
    words = []
    for name in parts:
        if name == CHROMIUM.name:
            words += ["--ro-bind", str(CHROMIUM / name), f"{CHROME}/chrome"]
        else:
            words += ["--symlink", str(CHROMIUM / name), f"{CHROME}/{name}"]
    return ["--perms", "0755", "--dir", "/opt/google", "--perms", "0755", "--dir", CHROME, *words]


def _stubs(plan: SandboxLayout) -> list[str]:
    """Explains instead of failing: nobody can become root inside."""
    return ["--ro-bind", str(STAGE / "guest" / STUBS / SUDO.name), str(SUDO)] if plan.sudo else []


def _etc_mounts(names: Sequence[str]) -> list[str]:
    """Generated files of /etc."""
    words: list[str] = []
    for name in names:
        words += ["--ro-bind", str(STAGE / "etc" / name), f"/etc/{name}"]
    return [*words, "--symlink", "/usr/share/zoneinfo/Etc/UTC", "/etc/localtime"]


def _ca_mounts() -> list[str]:
    """Trusted authorities, in a place where the worker can add one for the attempt: see ca_bundle.py."""
    return [
        *("--ro-bind-try", str(STAGE / "egress" / OWN_BUNDLE), str(BUNDLE)),
        *("--symlink", f"{EGRESS}/{POLICIES}", CHROMIUM_POLICIES),
    ]


def _bound(binds: Mapping[str, str]) -> list[str]:
    """Additional folders of this kind of desktop."""
    return [word for inside, name in binds.items() for word in ("--ro-bind", str(STAGE / name), inside)]


def _writable(plan: SandboxLayout) -> list[str]:
    """Everything writable, each with its size; then the rest is made read-only."""
    limits = plan.limits
    return [
        # A process may change what belongs to a namespace that it owns, without any capability: for example limits on
        # shared memory, which the stage has set.
        *("--proc", "/proc", "--ro-bind", "/proc/sys", "/proc/sys", "--dev", "/dev"),
        *("--perms", "1777", "--size", str(limits.shm), "--tmpfs", "/dev/shm"),  # noqa: S108 - inside
        *("--perms", "1777", "--size", str(limits.tmp), "--tmpfs", "/tmp"),  # noqa: S108 - inside
        *("--perms", "0755", "--size", str(limits.run), "--tmpfs", "/run", "--perms", "0700", "--dir", "/run/user"),
        *("--symlink", "/tmp", "/var/tmp", "--symlink", "/run", "/var/run"),  # noqa: S108 - inside
        *("--bind", str(STAGE / "home"), "/home/user", *_bound(plan.binds)),
        # One profile under both names: tasks prepare and read Chrome's, which etc.py makes Chromium use.
        *("--symlink", "google-chrome", "/home/user/.config/chromium"),
        *("--ro-bind", str(STAGE / "guest"), "/opt/guest", "--ro-bind", str(STAGE / "egress"), EGRESS),
        *("--remount-ro", "/dev", "--remount-ro", "/", "--chdir", "/home/user"),
    ]


def bwrap_command(plan: SandboxLayout) -> list[str]:
    """The complete argument list after `bwrap`.

    Order matters: later mounts cover earlier ones, and the root is made read-only last.
    """
    words = [*_namespaces(), "--json-status-fd", str(plan.status_fd)]
    if plan.seccomp_fd is not None:
        words += ["--seccomp", str(plan.seccomp_fd)]
    environment = ENVIRONMENT | {"DESKARENA_SCREEN": f"{plan.width}x{plan.height}", "DESKARENA_LISTEN_FD": "3"}
    if plan.seccomp_fd is not None:
        environment["DESKARENA_PROTECTED_PIDS"] = str(PROTECTED_PIDS)
    environment |= plan.environment
    words.append("--clearenv")
    for name, value in environment.items():
        words += ["--setenv", name, value]
    words += [*_system(plan.links, plan.hide), *_etc_mounts(plan.etc), *_ca_mounts()]
    words += [*_stubs(plan), *_chrome(plan.chromium), *_writable(plan)]
    return [*words, "--", *prlimit_command(plan.limits, data=plan.data_limit), *plan.command]


def root_links(root: Path = Path("/")) -> dict[str, str]:
    """ROOT_LINKS that are links on this host, with their targets."""
    return {name: str((root / name).readlink()) for name in ROOT_LINKS if (root / name).is_symlink()}


def chromium_parts(folder: Path = CHROMIUM) -> tuple[str, ...]:
    """Sorted names of Chromium's files on this host; none if it is not installed."""
    program = folder / CHROMIUM.name
    return tuple(sorted(path.name for path in folder.iterdir())) if program.is_file() else ()


def hidden_folders(private: Sequence[Path]) -> tuple[str, ...]:
    """Folders inside bound ones that must be covered: the administrator's, and private ones of ours.

    Raises:
        ValueError: A bound folder is inside a private one, so hiding it would hide the system.
    """
    bound = [Path("/usr"), *(Path("/etc") / name for name in ETC), *(Path("/var") / name for name in VAR)]
    hidden = [path for path in HIDDEN if Path(path).is_dir() and not Path(path).is_symlink()]
    for folder in private:
        real = folder.resolve()
        if any(path == real or real in path.parents for path in bound):
            raise ValueError(
                f"{real} contains parts of the operating system that desktops need. Choose another folder."
            )
        if any(path in real.parents for path in bound) and not any(Path(path) in real.parents for path in hidden):
            hidden.append(str(real))
    return tuple(hidden)
