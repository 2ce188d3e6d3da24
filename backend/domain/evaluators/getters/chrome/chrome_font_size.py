"""`chrome_font_size`: the browser's font sizes."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "chrome_font_size")
class ChromeFontSize(ProfileSetting):
    """`user_data_dir`. The value is `{default_font_size, ...}`; the defaults are 16, and 13 for fixed width."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        defaults = {"default_fixed_font_size": 13, "default_font_size": 16}
        set_by_user = at(settings, "webkit.webprefs", {})
        return defaults | (dict(set_by_user) if isinstance(set_by_user, Mapping) else {})


@register(PluginKind.GETTER, "edge_font_size")
class EdgeFontSize(ProfileSetting):
    """Edge's font sizes.

    `user_data_dir`. The value is `{default_font_size, ...}`; the defaults are 16, and 13 for fixed width.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        defaults = {"default_fixed_font_size": 13, "default_font_size": 16}
        set_by_user = at(settings, "webkit.webprefs", {})
        return defaults | (dict(set_by_user) if isinstance(set_by_user, Mapping) else {})
