"""Puts the Linux parts together."""

import sys
from collections.abc import Mapping

from .a11y_process import HelpedAccessibility
from .clipboard_linux import XClipboard
from .commands_linux import LinuxCommands
from .environment_linux import SessionConfig, own_environment
from .health_linux import LinuxHealth
from .input_linux import XInput
from .interactions_linux import XInteractions
from .lines import Lines
from .machine import Machine
from .screen_linux import XScreen, XvfbScreen
from .secret import Secret
from .services_linux import framebuffer
from .shell_linux import LinuxShell
from .shm_screen_linux import ShmScreen
from .system_linux import RootHelper
from .wallpaper_linux import PcmanfmWallpaper, RootWallpaper, Wallpaper
from .windows_linux import XWindows
from .x11_linux import XClient

_ACCESSIBILITY = "guest_server.a11y_helper_linux"
# For programs that do not answer pings: how long the screen must rest before their input counts as read.
_IDLE_QUIET_SECONDS, _IDLE_LONGEST_SECONDS = 0.15, 2.0


def linux_machine(config: SessionConfig, secret: Secret, display: str, environment: Mapping[str, str]) -> Machine:
    """The machine of a session whose X server and bus are running."""
    client = XClient(display)
    screen = ShmScreen(display) if config.x_server == "xorg" else XvfbScreen(framebuffer(config), client, display)
    root = RootWallpaper(client)
    wallpaper: Wallpaper = PcmanfmWallpaper(environment, config.home) if config.desktop == "pcmanfm" else root
    interactions = XInteractions(own_environment(config, display))
    device = XInput(display, lambda: _wait_idle(screen), interactions.before_press)
    screen.on_new_keymap(device.notice_keymap)
    return Machine(
        platform="Linux",
        limits=config.limits,
        secret=secret,
        environment=environment,
        home=config.home,
        screen=screen,
        input=device,
        interactions=interactions,
        clipboard=XClipboard(display, config.limits),
        windows=XWindows(client),
        accessibility=HelpedAccessibility(_ACCESSIBILITY, own_environment(config, display), config.limits),
        commands=LinuxCommands(environment, config.home),
        shell=LinuxShell(environment, config.home, wallpaper, (screen.width, screen.height)),
        health=LinuxHealth(config.home, client),
        python=[sys.executable],
        bash=["/bin/bash"],
        tunnel_ports=config.tunnel_ports,
        egress_proxy=config.egress_proxy,
        egress_socket=config.egress_socket,
        lines=Lines(config.limits.lines, config.limits.line_seconds) if config.egress_lines else None,
        system=RootHelper(config.root_helper) if config.root_helper else None,
    )


def _wait_idle(screen: XScreen) -> None:
    screen.wait_stable(_IDLE_QUIET_SECONDS, _IDLE_LONGEST_SECONDS)
