"""`act`: a step type that both suites name and that never did anything."""

from backend.domain.registry import Kind, register
from backend.domain.setup._unimplemented import NeverBuilt


@register(Kind.SETUP, "act")
class Act(NeverBuilt):
    """See `NeverBuilt`."""

    name = "act"
