"""What the `local` provider needs: a screen, a sandbox, a copy-on-write home, limits, applications."""

import os
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from backend.cli.doctor.check import PROBE_SECONDS, CheckState, CheckWords, DoctorCheck, first_line
from backend.cli.doctor.trials import Trials

LOCAL = CheckWords(
    name="local desktop",
    works="local desktops can be made",
    lacks="no local desktops",
    install="see what does not work above, and docs/internals/local-provider.md",
)
XVFB = CheckWords(
    name="xvfb",
    works="local desktops have a screen",
    lacks="no local desktops",
    install="apt install xvfb",
)
SANDBOX = CheckWords(
    name="sandbox",
    works="agents on local desktops are contained (bubblewrap with user, network, process and IPC namespaces)",
    lacks="no local desktops: an agent would run uncontained",
    install="apt install bubblewrap; allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0; "
    "in Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)",
)
OVERLAY = CheckWords(
    name="overlay",
    works="a local desktop's home resets in milliseconds (overlay mount)",
    lacks="a local desktop's home is copied for every attempt, which takes longer",
    install="a kernel of 5.11 or newer with overlayfs and user namespaces",
)
CGROUPS = CheckWords(
    name="cgroups",
    works="a local desktop's memory is limited by the kernel",
    lacks="a local desktop's memory is limited by a watchdog, which is slower to act",
    install="run as root, or have systemd delegate a group (systemd-run --user --scope -p Delegate=yes)",
)
ACCESSIBILITY = CheckWords(
    name="accessibility",
    works="agents can read the accessibility tree",
    lacks="no accessibility tree: such observations are empty",
    install="apt install at-spi2-core dbus python3-gi gir1.2-atspi-2.0 gir1.2-gtk-3.0",
)
WINE = CheckWords(
    name="wine",
    works="Windows applications can run on local desktops",
    lacks="no Windows applications on local desktops",
    install="make setup installs Wine and makes it ready (tools/packages-wine.txt)",
)
GUEST = CheckWords(
    name="guest server",
    works="the guest server can run in local desktops",
    lacks="no local desktops: the guest server cannot run",
    install="apt install python3 python3-aiohttp python3-xlib python3-pil xclip",
)
# Application -> (program, what it says its version by, Debian package).
APPLICATIONS = {
    "window manager": ("openbox", "--version", "openbox"),
    "editor": ("mousepad", "--version", "mousepad"),
    "file manager": ("pcmanfm", "--help", "pcmanfm"),
    "terminal": ("xterm", "-version", "xterm"),
    "calculator": ("galculator", "--version", "galculator"),
    "image viewer": ("gpicview", "--version", "gpicview"),
    "spreadsheet": ("localc", "--version", "libreoffice-calc"),
    "document": ("lowriter", "--version", "libreoffice-writer"),
    "presentation": ("loimpress", "--version", "libreoffice-impress"),
    "browser": ("chromium", "--version", "chromium"),
    "media player": ("vlc", "--version", "vlc"),
    "image editor": ("gimp", "--version", "gimp"),
}
BWRAP = (
    *("bwrap", "--unshare-user", "--unshare-net", "--unshare-pid", "--unshare-ipc", "--unshare-uts"),
    *("--unshare-cgroup-try", "--disable-userns", "--hostname", "desktop"),
    *("--die-with-parent", "--new-session", "--cap-drop", "ALL", "--uid", "1000", "--gid", "1000"),
    *("--ro-bind", "/usr", "/usr", "--symlink", "usr/bin", "/bin", "--symlink", "usr/lib", "/lib"),
    *("--ro-bind-try", "/lib64", "/lib64", "--proc", "/proc", "--dev", "/dev", "--tmpfs", "/tmp", "--clearenv"),  # noqa: S108  inside
)


def xvfb() -> DoctorCheck:
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


def sandbox(trials: Trials) -> DoctorCheck:
    """A desktop that was made ran in it. Else a program is run in the namespaces that agents get."""
    if trials.ok(LOCAL.name):
        return SANDBOX.ok("a desktop ran in its own namespaces")
    return SANDBOX.program([*BWRAP, "/usr/bin/true"], lambda _: "a program ran in its own namespaces")


def guest_server(trials: Trials) -> DoctorCheck:
    """A desktop that was made ran it. Else the system's Python is asked for the packages that it imports."""
    code = "import sys, aiohttp, Xlib, PIL; print('Python', sys.version.split()[0])"
    check = GUEST.program(["/usr/bin/python3", "-c", code])
    if check.state is not CheckState.OK or trials.ok(LOCAL.name):
        return check
    return GUEST.found(
        CheckState.UNTRIED, f"{check.detail} has its packages; no local desktop could be made to run it in"
    )


def commands() -> Mapping[str, Sequence[str]]:
    """What is run in a desktop of each application of the starter benchmark that is installed."""
    return {kind: (program, flag) for kind, (program, flag, _) in APPLICATIONS.items() if shutil.which(program)}


def applications(trials: Trials) -> list[DoctorCheck]:
    """Which applications of the starter benchmark start in a desktop."""
    return [_application(kind, program, package, trials) for kind, (program, _, package) in APPLICATIONS.items()]


def _application(kind: str, program: str, package: str, trials: Trials) -> DoctorCheck:
    probe = CheckWords(
        name=kind,
        works=f"tasks with the {kind} can run",
        lacks=f"tasks with the {kind} are not runnable here",
        install=f"apt install {package}",
    )
    path = shutil.which(program)
    if path is None:
        return probe.missing(f"no program {program}")
    check = trials.check(probe)
    return probe.found(check.state, f"{path}: {check.detail}")
