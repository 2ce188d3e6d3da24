"""`macys_product_url_parse`: filters in the address of a shop's list of products."""

from backend.domain.evaluators.getters.chrome._macys import ProductAddress
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "macys_product_url_parse")
class MacysProductUrlParse(ProductAddress):
    """See `ProductAddress`: upstream has two names for this getter."""
