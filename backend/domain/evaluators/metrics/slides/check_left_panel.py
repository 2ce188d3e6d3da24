"""`check_left_panel`: the list of slides is open at the left of LibreOffice Impress."""

from xml.etree.ElementTree import ParseError

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
    return verdict(met, "the list of slides is open" if met else "the list of slides is not on the screen")


_CORNER = "parentcoord"


@register(PluginKind.METRIC, "check_left_panel", dialect="waa")
def check_left_panel_waa(result: str | None) -> MetricValue:
    """`check_left_panel` of WindowsAgentArena: something is at the left edge of the window's main pane.

    1 if a visible split pane is in the upper left corner of its parent.

    Args:
        result: the accessibility tree as XML.
    """
    from defusedxml import DefusedXmlException
    from defusedxml.ElementTree import fromstring

    try:
        root = fromstring(result or "")
    except (ParseError, DefusedXmlException, ValueError) as error:
        return verdict(met=False, reason=f"the accessibility tree cannot be read: {type(error).__name__}")
    panes = root.iterfind(".//root-pane//panel//split-pane")
    states = [{key.rsplit("}", 1)[-1]: value for key, value in pane.attrib.items()} for pane in panes]
    met = any(state.get(_CORNER) == "(0, 0)" and state.get("visible") not in {None, "", "false"} for state in states)
    return verdict(met, "the left panel is open" if met else "no panel is open on the left")
