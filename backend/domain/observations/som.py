"""`som`: `set_of_marks` under the name that OSWorld's agents know it by."""

from backend.domain.observations._som import MarkedSpace
from backend.domain.registry import PluginKind, register


@register(PluginKind.OBSERVATION, "som")
class Som(MarkedSpace):
    """From the accessibility tree, as OSWorld does it."""

    about = "`set_of_marks` under the name that OSWorld's agents know it by."
