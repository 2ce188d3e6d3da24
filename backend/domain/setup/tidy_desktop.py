"""`tidy_desktop`: a step type that both suites name and that never did anything."""

from backend.domain.registry import Kind, register
from backend.domain.setup._unimplemented import NeverBuilt


@register(Kind.SETUP, "tidy_desktop")
class TidyDesktop(NeverBuilt):
    """See `NeverBuilt`."""

    name = "tidy_desktop"
