"""Assembles the Windows implementation."""

import os
from pathlib import Path

from guest_server.a11y_process import AccessibilityProcess
from guest_server.egress_tunnels import EgressTunnels
from guest_server.protocol.machine import Machine
from guest_server.protocol.secret import Secret
from guest_server.windows import waa_checks, waa_routes
from guest_server.windows.api import is_wine
from guest_server.windows.clipboard import WindowsClipboard
from guest_server.windows.commands import WindowsCommands
from guest_server.windows.environment import WindowsConfig, children_environment, own_environment
from guest_server.windows.health import WindowsHealth, ask_licence
from guest_server.windows.health_sources import Sources
from guest_server.windows.input import WindowsInput
from guest_server.windows.interactions import WindowsInteractions
from guest_server.windows.programs import Programs
from guest_server.windows.screen import GdiScreen
from guest_server.windows.shell import WindowsShell, console_python
from guest_server.windows.system import WindowsSystem
from guest_server.windows.window_control import WindowsWindows

_ACCESSIBILITY = "guest_server.windows.a11y_helper"


def windows_machine(config: WindowsConfig, secret: Secret) -> Machine:
    """The machine of this process's desktop."""
    environment = children_environment(config)
    screen, programs = GdiScreen(), Programs(environment)
    return Machine(
        platform="Windows",
        limits=config.limits,
        secret=secret,
        environment=environment,
        home=config.home,
        screen=screen,
        input=WindowsInput(screen),
        interactions=WindowsInteractions(),
        clipboard=WindowsClipboard(config.limits),
        windows=WindowsWindows(),
        accessibility=AccessibilityProcess(_ACCESSIBILITY, own_environment(config), config.limits),
        commands=WindowsCommands(environment, config.home, programs),
        shell=WindowsShell(programs, screen),
        health=WindowsHealth(config.home, Sources(screen), os.getpid(), _no_licence if is_wine() else ask_licence),
        python=[config.python or console_python()],
        bash=[*filter(None, [programs.find("bash")])],
        tunnel_ports=config.tunnel_ports,
        egress_proxy=config.egress_proxy,
        lines=EgressTunnels(config.limits.lines, config.limits.line_seconds) if config.virtual_machine else None,
        system=WindowsSystem(_memory(config)) if config.virtual_machine else None,
        capabilities=(waa_routes, waa_checks),
    )


def _memory(config: WindowsConfig) -> Path:
    """Path of the record of the trusted authority: inside the machine, so that it is part of its saved state."""
    return Path(config.inherited.get("PROGRAMDATA", config.home)) / "deskarena-authority.txt"


def _no_licence() -> None:
    """No licence: Wine needs none."""
