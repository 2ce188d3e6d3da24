"""Makes Windows count real pixels, whatever the display's scale."""

from guest_server.windows.api import user32

_EACH_MONITOR_2 = -4


def see_real_pixels() -> None:
    """Must be called before any other request about the screen."""
    if not user32.SetProcessDpiAwarenessContext(_EACH_MONITOR_2):
        user32.SetProcessDPIAware()
