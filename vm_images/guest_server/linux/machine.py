"""Assembles the Linux parts."""

import sys
from collections.abc import Mapping

from guest_server.a11y_process import AccessibilityProcess
from guest_server.egress_tunnels import EgressTunnels
from guest_server.keyboard.pyautogui_keys import NAME
from guest_server.linux.clipboard import XClipboard
from guest_server.linux.commands import LinuxCommands
from guest_server.linux.environment import SessionConfig, own_environment
from guest_server.linux.health import LinuxHealth
from guest_server.linux.input import XInput
from guest_server.linux.interactions import XInteractions
from guest_server.linux.screen import XScreen, XvfbScreen
from guest_server.linux.services import framebuffer
from guest_server.linux.shared_memory_screen import ShmScreen
from guest_server.linux.shell import LinuxShell
from guest_server.linux.spawner import Spawner
from guest_server.linux.system import RootHelper
from guest_server.linux.wallpaper import PcmanfmWallpaper, RootWallpaper, Wallpaper
from guest_server.linux.window_control import XWindows
from guest_server.linux.x11 import XClient
from guest_server.protocol.machine import Machine
from guest_server.protocol.secret import Secret

_ACCESSIBILITY = "guest_server.linux.a11y_helper"
# For programs that do not answer pings: how long the screen must be still before input counts as handled.
_IDLE_QUIET_SECONDS, _IDLE_LONGEST_SECONDS = 0.15, 2.0


def linux_machine(
    config: SessionConfig, secret: Secret, display: str, environment: Mapping[str, str], spawner: Spawner
) -> Machine:
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
        accessibility=AccessibilityProcess(_ACCESSIBILITY, own_environment(config, display), config.limits),
        commands=LinuxCommands(environment, config.home, spawner),
        shell=LinuxShell(environment, config.home, wallpaper, (screen.width, screen.height)),
        health=LinuxHealth(config.home, client),
        python=[sys.executable],
        bash=["/bin/bash"],
        tunnel_ports=config.tunnel_ports,
        egress_proxy=config.egress_proxy,
        egress_socket=config.egress_socket,
        keyboard_socket=config.runtime / NAME,
        lines=EgressTunnels(config.limits.lines, config.limits.line_seconds) if config.egress_lines else None,
        system=RootHelper(config.root_helper) if config.root_helper else None,
    )


def _wait_idle(screen: XScreen) -> None:
    screen.wait_stable(_IDLE_QUIET_SECONDS, _IDLE_LONGEST_SECONDS)
