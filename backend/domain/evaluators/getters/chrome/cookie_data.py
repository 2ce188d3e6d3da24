"""`cookie_data`: the browser's cookies."""

from backend.domain.evaluators.getters._cookies import Cookies
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "cookie_data")
class CookieData(Cookies):
    """See `Cookies`."""
