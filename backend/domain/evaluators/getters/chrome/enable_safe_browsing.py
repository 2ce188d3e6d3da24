"""`enable_safe_browsing`: whether safe browsing is on, standard or enhanced."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "enable_safe_browsing")
class EnableSafeBrowsing(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; the default is `true` (standard protection), as in Chrome."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return yes(at(settings, "safebrowsing.enhanced") or at(settings, "safebrowsing.enabled", default=True))
