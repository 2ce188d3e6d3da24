"""Checks for the `local` provider: screen, sandbox, copy-on-write home, limits, applications."""

import os
import select
import shutil
import subprocess
from collections.abc import Mapping, Sequence

from backend.cli.doctor.check import PROBE_SECONDS, CheckState, CheckWords, DoctorCheck, first_line
from backend.cli.doctor.trials import Trials

LOCAL = CheckWords(
    name="local desktop",
    works="local desktops can be created",
    lacks="no local desktops",
    install="see the failed checks above, and docs/internals/local-provider.md",
)
XVFB = CheckWords(
    name="xvfb",
    works="local desktops have a screen",
    lacks="no local desktops",
    install="apt install xvfb",
)
SANDBOX = CheckWords(
    name="sandbox",
    works="agents on local desktops are isolated (bubblewrap with user, network, process and IPC namespaces)",
    lacks="no local desktops: agents would not be isolated",
    install="apt install bubblewrap; allow user namespaces (sysctl kernel.apparmor_restrict_unprivileged_userns=0; "
    "in Docker: --security-opt seccomp=unconfined --security-opt systempaths=unconfined)",
)
OVERLAY = CheckWords(
    name="overlay",
    works="a local desktop's home resets in milliseconds (overlay mount)",
    lacks="a local desktop's home is copied for every attempt, which is slower",
    install="a kernel of 5.11 or newer with overlayfs and user namespaces",
)
CGROUPS = CheckWords(
    name="cgroups",
    works="the kernel limits a local desktop's memory",
    lacks="a watchdog limits a local desktop's memory, which reacts more slowly",
    install="run as root, or have systemd delegate a group (systemd-run --user --scope -p Delegate=yes)",
)
ACCESSIBILITY = CheckWords(
    name="accessibility",
    works="agents can read the accessibility tree",
    lacks="no accessibility tree: such observations are empty",
    install="apt install at-spi2-core dbus python3-gi gir1.2-atspi-2.0 gir1.2-gtk-3.0",
)
LOCALE = CheckWords(
    name="locale",
    works="local desktops have the suites' locale, en_US.UTF-8: dates, numbers and sorting as tasks expect them",
    lacks="local desktops use C.UTF-8: dates, numbers and sorting differ from the suites' en_US.UTF-8",
    install="run make setup as somebody who may use sudo, or: sudo localedef -i en_US -f UTF-8 en_US.UTF-8",
)
SUDO = CheckWords(
    name="sudo",
    works="agents and tasks can become root",
    lacks="on local desktops `sudo` only prints that it is unavailable: agents cannot install system packages, and "
    "tasks whose set-up calls it are lost (task_setup)",
    install="use virtual machines of the image linux-full (docs/internals/linux-image.md)",
)
WINDOWS_SHELL = CheckWords(
    name="bash on Windows desktops",
    works="agents' bash scripts run on desktops with Windows programs",
    lacks="desktops with Windows programs have neither bash nor sudo: `run_bash_script` raises a sentence; Python, cmd "
    "and pip work",
    install="use a Linux desktop for agents and tasks that need bash",
)
WINE = CheckWords(
    name="wine",
    works="Windows applications can run on local desktops",
    lacks="no Windows applications on local desktops",
    install="run make setup: it installs Wine and prepares it (tools/packages-wine.txt)",
)
GUEST = CheckWords(
    name="guest server",
    works="the guest server can run in local desktops",
    lacks="no local desktops: the guest server cannot run",
    install="apt install python3 python3-aiohttp python3-xlib python3-pil xclip",
)
# Application -> (program, option that prints the version, Debian package).
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
    """Starts a screen and waits for its display number."""
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
        return XVFB.missing("program Xvfb not found")
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
    """Works if a desktop ran in it; otherwise runs a program in the agents' namespaces."""
    if trials.ok(LOCAL.name):
        return SANDBOX.ok("a desktop ran in its own namespaces")
    return SANDBOX.program([*BWRAP, "/usr/bin/true"], lambda _: "a program ran in its own namespaces")


def locale() -> DoctorCheck:
    """Whether this machine, whose files local desktops see, has generated the suites' locale."""
    check = LOCALE.program(["/bin/sh", "-c", "locale -a | grep -i -x 'en_us.utf-\\?8'"])
    return check if check.state is CheckState.OK else LOCALE.missing("this machine has not generated it")


def guest_server(trials: Trials) -> DoctorCheck:
    """Works if a desktop ran it; otherwise checks the Python packages that it imports."""
    code = "import sys, aiohttp, Xlib, PIL; print('Python', sys.version.split()[0])"
    check = GUEST.program(["/usr/bin/python3", "-c", code])
    if check.state is not CheckState.OK or trials.ok(LOCAL.name):
        return check
    return GUEST.check(
        CheckState.UNTRIED, (f"{check.detail} has its packages, but no local desktop could be created to run it")
    )


def commands() -> Mapping[str, Sequence[str]]:
    """Version command of each installed application of the starter benchmark."""
    return {kind: (program, flag) for kind, (program, flag, _) in APPLICATIONS.items() if shutil.which(program)}


def applications(trials: Trials) -> list[DoctorCheck]:
    """Checks which applications of the starter benchmark start in a desktop."""
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
        return probe.missing(f"program {program} not found")
    check = trials.check(probe)
    return probe.check(check.state, f"{path}: {check.detail}")
