"""What the `local` provider needs: a screen, a sandbox, a copy-on-write home, limits, applications."""

import os
import select
import shutil
import subprocess
import tempfile
from contextlib import suppress
from pathlib import Path

from backend.cli.doctor.check import PROBE_SECONDS, Check, Probe, State, first_line

CHECKOUT = Path(__file__).resolve().parents[3]
WHY_NOT = "why-not.txt"
"""Where `make setup` says why it could not make Wine ready, beside what it lays out."""

XVFB = Probe(
    name="xvfb",
    works="local desktops have a screen",
    lacks="no local desktops",
    install="apt install xvfb",
)
SANDBOX = Probe(
    name="sandbox",
    works="agents on local desktops are contained (bubblewrap with user, network, process and IPC namespaces)",
    lacks="no local desktops: an agent would run uncontained",
    install="apt install bubblewrap; allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0; "
    "in Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)",
)
OVERLAY = Probe(
    name="overlay",
    works="a local desktop's home resets in milliseconds (overlay mount)",
    lacks="a local desktop's home is copied for every attempt, which takes longer",
    install="a kernel of 5.11 or newer with overlayfs and user namespaces",
)
CGROUPS = Probe(
    name="cgroups",
    works="a local desktop's memory is limited by the kernel",
    lacks="a local desktop's memory is limited by a watchdog, which is slower to act",
    install="run as root, or have systemd delegate a group (systemd-run --user --scope -p Delegate=yes)",
)
ACCESSIBILITY = Probe(
    name="accessibility",
    works="agents can read the accessibility tree",
    lacks="no accessibility tree: such observations are empty",
    install="apt install at-spi2-core dbus python3-gi gir1.2-atspi-2.0",
)
WINE = Probe(
    name="wine",
    works="Windows applications can run on local desktops",
    lacks="no Windows applications on local desktops",
    install="make setup installs Wine and makes it ready (scripts/packages-wine.txt)",
)
GUEST = Probe(
    name="guest server",
    works="the guest server can run in local desktops",
    lacks="no local desktops: the guest server cannot run",
    install="apt install python3 python3-aiohttp python3-xlib python3-pil xclip",
)
# Application -> (program, Debian package).
APPLICATIONS = {
    "window manager": ("openbox", "openbox"),
    "editor": ("mousepad", "mousepad"),
    "file manager": ("pcmanfm", "pcmanfm"),
    "terminal": ("xterm", "xterm"),
    "calculator": ("galculator", "galculator"),
    "image viewer": ("gpicview", "gpicview"),
    "spreadsheet": ("localc", "libreoffice-calc"),
    "document": ("lowriter", "libreoffice-writer"),
    "presentation": ("loimpress", "libreoffice-impress"),
    "browser": ("chromium", "chromium"),
    "media player": ("vlc", "vlc"),
    "image editor": ("gimp", "gimp"),
}
BWRAP = (
    *("bwrap", "--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"),
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"),
    *("--ro-bind-try", "/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--clearenv"),  # noqa: S108  inside
)


def xvfb() -> Check:
    """Start a screen and wait until it says its number."""
    read_end, write_end = os.pipe()
    try:
        server = subprocess.Popen(
            ["Xvfb", "-displayfd", str(write_end), "-screen", "0", "640x480x24", "-nolisten", "tcp"],
            pass_fds=(write_end,),
            stdout=subprocess.DEVNULL,
            stderr=subprocess.PIPE,
        )
    except FileNotFoundError:
        os.close(read_end)
        os.close(write_end)
        return XVFB.missing("no program Xvfb")
    os.close(write_end)
    try:
        ready = select.select([read_end], [], [], PROBE_SECONDS)[0]
        number = os.read(read_end, 16).decode().strip() if ready else ""
    finally:
        os.close(read_end)
        server.terminate()
        _, errors = server.communicate()
    return (
        XVFB.ok(f"started as display :{number}") if number else XVFB.broken(first_line(errors.decode()) or "no display")
    )


def sandbox() -> Check:
    """Run a program in the namespaces that agents get."""
    return SANDBOX.program([*BWRAP, "/usr/bin/true"], lambda _: "a program ran in its own namespaces")


def overlay() -> Check:
    """Mount an overlay as the provider does: in a mount namespace, as an ordinary user in a user namespace too."""
    with tempfile.TemporaryDirectory(prefix="deskarena-doctor-") as name:
        for part in ("lower", "upper", "work", "merged"):
            (Path(name) / part).mkdir()
        options = f"lowerdir={name}/lower,upperdir={name}/upper,workdir={name}/work,userxattr"
        mount = ["mount", "-t", "overlay", "overlay", "-o", options, f"{name}/merged"]
        flags = "-m" if os.geteuid() == 0 else "-Urm"
        found = OVERLAY.program(["unshare", flags, *mount], lambda _: f"mounted in {tempfile.gettempdir()}")
        # The kernel leaves a folder here that its owner may not enter.
        for left in (Path(name) / "work").iterdir():
            left.chmod(0o700)
    return found


def cgroups() -> Check:
    """Make a group below our own and look whether its memory can be limited."""
    for parent in _memory_groups():
        group = parent / f"deskarena-doctor-{os.getpid()}"
        try:
            group.mkdir()
        except OSError:
            continue
        try:
            limits = [group / name for name in ("memory.max", "memory.limit_in_bytes")]
            if any(os.access(limit, os.W_OK) for limit in limits):
                return CGROUPS.ok(f"memory can be limited below {parent}")
        finally:
            group.rmdir()
    return CGROUPS.missing("no group in which memory can be limited")


def _memory_groups() -> list[Path]:
    found = []
    for line in Path("/proc/self/cgroup").read_text().splitlines():
        _, names, path = line.split(":", 2)
        if names == "":
            found += [Path("/sys/fs/cgroup") / path.lstrip("/"), Path("/sys/fs/cgroup/unified") / path.lstrip("/")]
        elif "memory" in names.split(","):
            found.append(Path("/sys/fs/cgroup/memory") / path.lstrip("/"))
    return found


def accessibility() -> Check:
    """Ask the system's Python, on which the guest server runs, for AT-SPI."""
    code = "import gi; gi.require_version('Atspi', '2.0'); from gi.repository import Atspi; print('AT-SPI 2.0')"
    return ACCESSIBILITY.program(["/usr/bin/python3", "-c", code])


def guest_server() -> Check:
    """Ask the system's Python for the packages that the guest server imports."""
    code = "import sys, aiohttp, Xlib, PIL; print('Python', sys.version.split()[0])"
    return GUEST.program(["/usr/bin/python3", "-c", code])


def wine(laid_out: Path = CHECKOUT / ".wine") -> Check:
    """Ask Wine for its version, and look for what `make setup` lays out for it, or says why it could not.

    Args:
        laid_out: The folder that desktops with Windows programs start from.
    """
    found = WINE.program(["wine", "--version"])
    if found.state is not State.OK:
        return found
    with suppress(FileNotFoundError):
        said = (laid_out / WHY_NOT).read_text(errors="replace")
        return WINE.broken(f"{found.detail}, but it could not be made ready: {' '.join(said.split())[:500]}")
    if not (laid_out / "home").is_dir():
        return WINE.broken(f"{found.detail}, but not made ready in {laid_out}")
    return found


def applications() -> list[Check]:
    """Which applications of the starter benchmark are installed."""
    return [_application(kind, program, package) for kind, (program, package) in APPLICATIONS.items()]


def _application(kind: str, program: str, package: str) -> Check:
    probe = Probe(
        name=kind,
        works=f"tasks with the {kind} can run",
        lacks=f"tasks with the {kind} are not runnable here",
        install=f"apt install {package}",
    )
    path = shutil.which(program)
    return probe.ok(path) if path else probe.missing(f"no program {program}")
