"""`set_of_marks`: the screen with its elements numbered."""

from backend.domain.observations._som import MarkedSpace
from backend.domain.registry import PluginKind, register


@register(PluginKind.OBSERVATION, "set_of_marks")
class SetOfMarks(MarkedSpace):
    """Elements of the accessibility tree, of pages, of OCR, of a detector, or of a mixture."""

    about = "The screenshot with numbered elements, and the list of them."


@register(PluginKind.OBSERVATION, "som")
class Som(MarkedSpace):
    """`set_of_marks` under the name that OSWorld's agents know it by.

    From the accessibility tree, as OSWorld does it.
    """

    about = "`set_of_marks` under the name that OSWorld's agents know it by."
