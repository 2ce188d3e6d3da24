"""`enable_enhanced_safety_browsing`: whether enhanced safe browsing is on."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "enable_enhanced_safety_browsing")
class EnableEnhancedSafetyBrowsing(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; the default is `false`."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return yes(at(settings, "safebrowsing.enhanced"))


@register(PluginKind.GETTER, "enable_enhanced_safety_browsing_from_edge")
class EnableEnhancedSafetyBrowsingFromEdge(ProfileSetting):
    """Whether Edge's enhanced security is on.

    `user_data_dir`. The value is 1.0 or 0.0; the default is 0.0.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        return 1.0 if at(settings, "edge.super_duper_secure_mode.enabled") else 0.0
