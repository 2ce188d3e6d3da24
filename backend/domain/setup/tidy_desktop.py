"""`tidy_desktop`: a step type that both suites name and that never did anything."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._unimplemented import UnimplementedStep


@register(PluginKind.SETUP, "tidy_desktop")
class TidyDesktop(UnimplementedStep):
    """See `UnimplementedStep`."""

    name = "tidy_desktop"
