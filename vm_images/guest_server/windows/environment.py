"""Configuration of a Windows session from its environment, and environment of the desktop's programs."""

import os
import sys
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path

from guest_server.environment import LIBRARY, PACKAGE, read_ports, read_python_path, read_screen
from guest_server.protocol.limits import GuestLimits, limits_from

_OURS = "DESKARENA_"
_USUAL_PROXY = "http://127.0.0.1:3128"
_NOT_PASSED_ON = frozenset({"PYTHONPATH", "PYTHONHOME", "PYTHONUTF8"})


@dataclass(frozen=True)
class WindowsConfig:
    """Configuration of the session.

    Attributes:
        virtual_machine: it is its own machine: its clock may be set, and the worker keeps its egress open.
        screen: width and height to set; None = the current one.
        python: interpreter for agents' code; empty: the server's own.
    """

    home: Path
    limits: GuestLimits
    tunnel_ports: frozenset[int] = frozenset()
    egress_proxy: str = ""
    virtual_machine: bool = False
    screen: tuple[int, int] | None = None
    python: str = ""
    python_path: str = ""
    inherited: Mapping[str, str] = field(default_factory=dict)


def read_config(environment: Mapping[str, str], *, virtual_machine: bool = False) -> WindowsConfig:
    """Reads the session's own environment variables (docs/internals/guest-api.md lists them).

    Args:
        environment: of the process.
        virtual_machine: see WindowsConfig; its egress then has a default.

    Raises:
        ValueError: names the wrong or missing variable.
    """
    home = environment.get("USERPROFILE", "")
    if not home or not Path(home).is_dir():
        raise ValueError("USERPROFILE must name a folder")
    return WindowsConfig(
        home=Path(home),
        limits=limits_from(environment),
        tunnel_ports=read_ports(environment.get("DESKARENA_TUNNEL_PORTS", "1337,8080,9222")),
        egress_proxy=environment.get("DESKARENA_EGRESS_PROXY", _USUAL_PROXY if virtual_machine else ""),
        virtual_machine=virtual_machine,
        screen=read_screen(environment["DESKARENA_SCREEN"]) if environment.get("DESKARENA_SCREEN") else None,
        python=environment.get("DESKARENA_PYTHON", ""),
        python_path=read_python_path(environment.get("PYTHONPATH", "")),
        inherited=environment,
    )


def children_environment(config: WindowsConfig) -> dict[str, str]:
    """Environment of every program of the desktop: Windows' own variables, none of ours."""
    source = {name.upper(): value for name, value in config.inherited.items()}
    environment = {
        name: value for name, value in source.items() if name not in _NOT_PASSED_ON and not name.startswith(_OURS)
    }
    # Last: the desktop's own Python comes first.
    environment["PATH"] = os.pathsep.join([*filter(None, [source.get("PATH", "")]), str(Path(sys.executable).parent)])
    parts = [*filter(None, [config.python_path]), str(LIBRARY)]
    return environment | {"PYTHONPATH": os.pathsep.join(parts), "PYTHONIOENCODING": "utf-8"}


def own_environment(config: WindowsConfig) -> dict[str, str]:
    """Environment of our own helper processes: the children's, with the path of this package."""
    parts = [str(PACKAGE.parent), *filter(None, [config.python_path])]
    return children_environment(config) | {"PYTHONPATH": os.pathsep.join(parts)}
