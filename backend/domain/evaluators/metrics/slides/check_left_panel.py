"""`check_left_panel`: the list of slides is open at the left of LibreOffice Impress."""

from backend.domain.errors import Invalid
from backend.domain.evaluators.metrics._verdicts import verdict
from backend.domain.formats.accessibility import widgets
from backend.domain.model.score import MetricValue
from backend.domain.registry import PluginKind, register


@register(PluginKind.METRIC, "check_left_panel")
def check_left_panel(result: str | None) -> MetricValue:
    """1 if the accessibility tree has the list of slides.

    Args:
        result: the tree as XML.
    """
    try:
        met = any(w.role == "document-frame" and w.name == "Slides View" for w in widgets(result or ""))
    except Invalid as error:
        return verdict(met=False, reason=error.message)
    return verdict(met, "the list of slides is open" if met else "there is no list of slides on the screen")
