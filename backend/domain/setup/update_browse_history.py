"""`update_browse_history`: gives Chrome a past."""

from backend.domain.browser.profiles import EDGE
from backend.domain.registry import PluginKind, register
from backend.domain.setup._history import HistoryStep


@register(PluginKind.SETUP, "update_browse_history")
class UpdateBrowseHistory(HistoryStep):
    """See `HistoryStep`."""


@register(PluginKind.SETUP, "update_browse_history_edge")
class UpdateBrowseHistoryEdge(HistoryStep):
    """Gives Microsoft Edge a past."""

    product = EDGE
