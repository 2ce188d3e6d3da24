"""`enable_enhanced_safety_browsing`: whether enhanced safe browsing is on."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "enable_enhanced_safety_browsing")
class EnableEnhancedSafetyBrowsing(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; without the key it is off."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""
        return yes(at(settings, "safebrowsing.enhanced"))
