"""`replay`: a step type that both suites name and that never did anything."""

from backend.domain.registry import Kind, register
from backend.domain.setup._unimplemented import NeverBuilt


@register(Kind.SETUP, "replay")
class Replay(NeverBuilt):
    """See `NeverBuilt`."""

    name = "replay"
