"""Puts the Windows parts together."""

import os
from pathlib import Path

from . import checks_windows, waa_windows
from .a11y_process import HelpedAccessibility
from .api_windows import is_wine
from .clipboard_windows import WindowsClipboard
from .commands_windows import WindowsCommands
from .environment_windows import WindowsConfig, children_environment, own_environment
from .health_windows import WindowsHealth, ask_licence
from .input_windows import WindowsInput
from .interactions_windows import WindowsInteractions
from .lines import Lines
from .machine import Machine
from .programs_windows import Programs
from .screen_windows import GdiScreen
from .secret import Secret
from .shell_windows import WindowsShell, console_python
from .sources_windows import Sources
from .system_windows import WindowsSystem
from .windows_windows import WindowsWindows

_ACCESSIBILITY = "guest_server.a11y_helper_windows"


def windows_machine(config: WindowsConfig, secret: Secret) -> Machine:
    """The machine of the desktop that this process runs in."""
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
        accessibility=HelpedAccessibility(_ACCESSIBILITY, own_environment(config), config.limits),
        commands=WindowsCommands(environment, config.home, programs),
        shell=WindowsShell(programs, screen),
        health=WindowsHealth(config.home, Sources(screen), os.getpid(), _no_licence if is_wine() else ask_licence),
        python=[config.python or console_python()],
        bash=[*filter(None, [programs.find("bash")])],
        tunnel_ports=config.tunnel_ports,
        egress_proxy=config.egress_proxy,
        lines=Lines(config.limits.lines, config.limits.line_seconds) if config.virtual_machine else None,
        system=WindowsSystem(_memory(config)) if config.virtual_machine else None,
        capabilities=(waa_windows, checks_windows),
    )


def _memory(config: WindowsConfig) -> Path:
    """Of the authority that programs were told to trust: it lies in the machine, and goes with its state."""
    return Path(config.inherited.get("PROGRAMDATA", config.home)) / "deskarena-authority.txt"


def _no_licence() -> None:
    """Wine needs none."""
