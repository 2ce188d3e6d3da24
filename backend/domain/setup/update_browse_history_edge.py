"""`update_browse_history_edge`: gives Microsoft Edge a past."""

from backend.domain.browser.profiles import EDGE
from backend.domain.registry import PluginKind, register
from backend.domain.setup._history import HistoryStep


@register(PluginKind.SETUP, "update_browse_history_edge")
class UpdateBrowseHistoryEdge(HistoryStep):
    """See `HistoryStep`."""

    product = EDGE
