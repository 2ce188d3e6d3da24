"""`launch`: starts a program and leaves it running."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._launch import LaunchStep


@register(PluginKind.SETUP, "launch")
class Launch(LaunchStep):
    """See `LaunchStep`. Follow it with `activate_window`, which waits for a window by its name."""
