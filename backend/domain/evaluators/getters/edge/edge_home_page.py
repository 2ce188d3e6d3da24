"""`edge_home_page`: the page that Edge's home button opens."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "edge_home_page")
class EdgeHomePage(ProfileSetting):
    """`user_data_dir`. The value is its address without scheme and slashes, `False` if none is set."""

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        page = at(settings, "homepage")
        if not isinstance(page, str) or not page:
            return "False"
        return page.replace("https://", "").replace("http://", "").replace("/", "")
