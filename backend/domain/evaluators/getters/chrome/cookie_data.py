"""`cookie_data`: the browser's cookies."""

from backend.domain.evaluators.getters._profile import Database
from backend.domain.registry import Kind, register


@register(Kind.GETTER, "cookie_data")
class CookieData(Database):
    """`dest`, `user_data_dir`. The value is a list of rows of the table `cookies`; the host is the second of a row.

    None if there is no such file.
    """

    names = ("Default/Network/Cookies", "Default/Cookies")
    query = "SELECT * FROM cookies"
