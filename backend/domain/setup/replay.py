"""`replay`: a step type that both suites name and that never did anything."""

from backend.domain.registry import PluginKind, register
from backend.domain.setup._unimplemented import UnimplementedStep


@register(PluginKind.SETUP, "replay")
class ReplayStep(UnimplementedStep):
    """See `UnimplementedStep`."""

    name = "replay"
