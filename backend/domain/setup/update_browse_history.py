"""`update_browse_history`: gives Chrome a past."""

from backend.domain.registry import Kind, register
from backend.domain.setup._history import HistoryStep


@register(Kind.SETUP, "update_browse_history")
class UpdateBrowseHistory(HistoryStep):
    """See `HistoryStep`."""
