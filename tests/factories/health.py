"""Facts of healthy desktops, for tests that make one thing wrong."""

import time
from typing import Any

from backend.domain.machines.health import GUEST_API, DesktopHealth, DiskRoom, ScreenHealth
from backend.domain.model.run import ScreenSize
from backend.domain.model.units import GIB


def health_of(screen: ScreenSize, **changes: Any) -> DesktopHealth:
    """Health report of a desktop with that screen; `changes` are facts by name, those of `screen` included."""
    look = {name: changes.pop(name) for name in ScreenHealth.model_fields if name in changes}
    shown = {"width": screen.width, "height": screen.height, "scale": 1.0, "black": False, "locked": ""}
    facts: dict[str, Any] = {
        "api": ".".join(map(str, GUEST_API)),
        "platform": "Linux",
        "clock": time.time(),
        "screen": ScreenHealth(**(shown | look)),
        "disks": (DiskRoom(path="/home/user", free=GIB, size=2 * GIB),),
        "memory_free": GIB,
        "pending": (),
        "licence_days": None,
        "processes": (),
    }
    return DesktopHealth(**(facts | changes))
