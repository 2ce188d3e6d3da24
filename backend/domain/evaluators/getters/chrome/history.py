"""`history`: the browser's history."""

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileDatabase
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "history")
class HistoryGetter(ProfileDatabase):
    """`dest`, `user_data_dir`. The value is a list of (url, title, last visit), None if the file does not exist.

    The time is in microseconds since 1601.
    """

    names = ("Default/History",)
    query = "SELECT url, title, last_visit_time FROM urls"


@register(PluginKind.GETTER, "history_for_edge")
class HistoryForEdge(ProfileDatabase):
    """Edge's history.

    `dest`, `user_data_dir`. The value is a list of (url, title, last visit), None if the file does not exist.

    The time is in microseconds since 1601.
    """

    product = EDGE
    names = ("Default/History",)
    query = "SELECT url, title, last_visit_time FROM urls"
