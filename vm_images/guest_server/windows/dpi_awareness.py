"""Tells Windows that we count in real pixels, whatever the scale of the display."""

from guest_server.windows.api import user32

_EACH_MONITOR_2 = -4


def see_real_pixels() -> None:
    """To be called before any other question about the screen."""
    if not user32.SetProcessDpiAwarenessContext(_EACH_MONITOR_2):
        user32.SetProcessDPIAware()
