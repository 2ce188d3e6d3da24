"""Configuration of a session from its environment, and environment of the desktop's programs."""

import locale
import os
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from guest_server.environment import DATA, LIBRARY, PACKAGE, read_ports, read_python_path, read_screen
from guest_server.protocol.limits import GuestLimits, limits_from

_LIBREOFFICE_GTK = Path("/usr/lib/libreoffice/program/libvclplug_gtk3lo.so")


@dataclass(frozen=True)
class SessionConfig:
    """Configuration of the desktop.

    Attributes:
        desktop: `plain` (a colour, the window manager's menu) or `pcmanfm` (icons and wallpaper by that program).
        width, height: of the screen in pixels; ignored with Xorg, where the graphics card decides.
        protected_pids: largest process id that the sandbox protects from signals; 0 = none.
        wine_filter: system call filter of Windows programs; empty = none.
        egress_lines: egress uses tunnels that the worker keeps open.
        root_helper: path of the socket of `root_helper`; empty = none.
        x_server: `xvfb`, or `xorg` on the first virtual terminal and the machine's graphics card.
    """

    width: int
    height: int
    home: Path
    runtime: Path
    limits: GuestLimits
    desktop: str = "plain"
    x_server: str = "xvfb"
    tunnel_ports: frozenset[int] = frozenset()
    egress_proxy: str = ""
    egress_socket: str = ""
    egress_lines: bool = False
    root_helper: str = ""
    python_path: str = ""
    protected_pids: int = 0
    wine_filter: bytes = b""
    inherited: Mapping[str, str] = field(default_factory=dict)


def read_config(environment: Mapping[str, str]) -> SessionConfig:
    """Reads the session's own environment variables (docs/internals/guest-api.md lists them).

    Raises:
        ValueError: names the wrong or missing variable.
    """
    width, height = read_screen(environment.get("DESKARENA_SCREEN", "1920x1080"))
    runtime = environment.get("XDG_RUNTIME_DIR", "")
    if not runtime or not Path(runtime).is_dir() or not os.access(runtime, os.W_OK):
        raise ValueError("XDG_RUNTIME_DIR must name a writable folder, best on a tmpfs")
    home = environment.get("HOME", "")
    if not home or not Path(home).is_dir():
        raise ValueError("HOME must name a folder")
    return SessionConfig(
        width=width,
        height=height,
        home=Path(home),
        runtime=Path(runtime),
        limits=limits_from(environment),
        desktop=_one_of(environment, "DESKARENA_DESKTOP", "plain", "pcmanfm"),
        x_server=_one_of(environment, "DESKARENA_X_SERVER", "xvfb", "xorg"),
        tunnel_ports=read_ports(environment.get("DESKARENA_TUNNEL_PORTS", "1337,8080,9222")),
        egress_proxy=environment.get("DESKARENA_EGRESS_PROXY", ""),
        egress_socket=environment.get("DESKARENA_EGRESS_SOCKET", ""),
        egress_lines=bool(environment.get("DESKARENA_EGRESS_LINES")),
        root_helper=environment.get("DESKARENA_ROOT_HELPER", ""),
        python_path=read_python_path(environment.get("PYTHONPATH", "")),
        protected_pids=int(environment.get("DESKARENA_PROTECTED_PIDS", "0")),
        wine_filter=bytes.fromhex(environment.get("DESKARENA_WINE_FILTER", "")),
        inherited=environment,
    )


def _one_of(environment: Mapping[str, str], name: str, usual: str, other: str) -> str:
    value = environment.get(name, usual)
    if value not in {usual, other}:
        raise ValueError(f"{name} must be {usual} or {other}, not {value}")
    return value


FALLBACK = "C.UTF-8"
"""Locale of every Linux with glibc 2.35 or newer, and of Debian and Ubuntu before."""


def language(name: str) -> str:
    """The locale `name`, or `FALLBACK` where this system has not generated it: programs would warn and print ASCII."""
    before = locale.setlocale(locale.LC_ALL)
    try:
        locale.setlocale(locale.LC_ALL, name)
    except locale.Error:
        return FALLBACK
    else:
        return name
    finally:
        locale.setlocale(locale.LC_ALL, before)


_PASSED_ON = ("PATH", "USER", "LOGNAME", "SHELL", "LC_ALL", "TZ", "http_proxy", "https_proxy", "no_proxy")


def children_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """Environment of every program of the desktop: an allow-list without our own variables."""
    source = config.inherited
    path = source.get("PATH", "/usr/local/bin:/usr/bin:/bin:/usr/games")
    user = source.get("USER", "user")
    environment = {"USER": user, "LOGNAME": user, "SHELL": "/bin/bash"}
    environment["LANG"] = language(source.get("LANG") or FALLBACK)
    environment |= {name: source[name] for name in _PASSED_ON if source.get(name)}
    environment |= {
        "PATH": f"{path}:{config.home / '.local' / 'bin'}:{DATA / 'bin'}:{DATA / 'stubs'}",
        "HOME": str(config.home),
        "XDG_RUNTIME_DIR": str(config.runtime),
        "XDG_CONFIG_DIRS": f"{DATA / 'xdg'}:/etc/xdg",
        "XDG_SESSION_TYPE": "x11",
        "XENVIRONMENT": str(DATA / "Xresources"),
        "DISPLAY": display,
        "XAUTHORITY": str(config.runtime / "xauthority"),
        "DBUS_SESSION_BUS_ADDRESS": f"unix:path={config.runtime / 'bus'}",
        # Each toolkit enables accessibility in its own way.
        "GTK_MODULES": "gail:atk-bridge",
        "QT_ACCESSIBILITY": "1",
        "QT_LINUX_ACCESSIBILITY_ALWAYS_ON": "1",
        "GNOME_ACCESSIBILITY": "1",
        "ACCESSIBILITY_ENABLED": "1",
        # `pip install` works without root: into the user's own folder, which Debian refuses by default.
        "PIP_USER": "1",
        "PIP_BREAK_SYSTEM_PACKAGES": "1",
        "PIP_DISABLE_PIP_VERSION_CHECK": "1",
    }
    # The library `deskarena_computer` is for agents' code; it comes last, so it hides nothing of the same name.
    parts = [*filter(None, [config.python_path]), str(LIBRARY)]
    environment["PYTHONPATH"] = os.pathsep.join(parts)
    if _LIBREOFFICE_GTK.exists():
        environment["SAL_USE_VCLPLUGIN"] = "gtk3"  # The only one of its interfaces with a whole tree.
    return environment


def own_environment(config: SessionConfig, display: str) -> dict[str, str]:
    """Environment of our own helper processes: the children's, with the path of this package."""
    environment = children_environment(config, display)
    parts = [str(PACKAGE.parent), *filter(None, [config.python_path])]
    return environment | {"PYTHONPATH": os.pathsep.join(parts)}
