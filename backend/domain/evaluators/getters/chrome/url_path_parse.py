"""`url_path_parse`: filters in the address of a shop's list of products."""

from backend.domain.evaluators.getters.chrome._macys import ProductAddress
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "url_path_parse")
class UrlPathParse(ProductAddress):
    """See `ProductAddress`: upstream has two names for this getter."""
