"""Waits until the desktop is usable, and configures it."""

import select
import time
from collections.abc import Callable, Mapping

from Xlib import X

from guest_server.linux.environment import SessionConfig
from guest_server.linux.services import Services
from guest_server.linux.shell import make_usual_folders
from guest_server.linux.x11 import XClient
from guest_server.protocol.errors import StartError


def prepare_desktop(services: Services, config: SessionConfig, environment: Mapping[str, str], display: str) -> None:
    """Returns when the window manager runs and the accessibility bus is announced."""
    make_usual_folders(config.home)
    client = XClient(display)
    client.root.change_attributes(event_mask=X.PropertyChangeMask)
    _wait(client, lambda: _has(client, "_NET_SUPPORTING_WM_CHECK"), config.limits.start_seconds, "openbox")
    if "at-spi" in services.processes:
        _wait(client, lambda: _has(client, "AT_SPI_BUS"), config.limits.start_seconds, "the accessibility bus")
    if config.desktop == "pcmanfm":
        services.start("pcmanfm", ["pcmanfm", "--desktop"], environment, inside=True)
    client.display.close()


def _has(client: XClient, name: str) -> bool:
    return client.window_property(client.root, name) is not None


def _wait(client: XClient, condition: Callable[[], bool], seconds: float, event: str) -> None:
    """Waits for a property of the root window; the X server reports changes."""
    deadline = time.monotonic() + seconds
    while not condition():
        remaining = deadline - time.monotonic()
        if remaining <= 0:
            raise StartError(
                f"{event} was not ready in {seconds:g} s; DESKARENA_VERBOSE=1 shows what it says", code="not_ready"
            )
        if not client.fresh_events():
            select.select([client.display.fileno()], [], [], min(remaining, 1.0))
