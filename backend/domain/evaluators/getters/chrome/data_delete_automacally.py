"""`data_delete_automacally`: whether what sites have stored goes when the browser closes."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register

SESSION_ONLY = 4  # of the choices in Chromium's content_settings.mojom


@register(PluginKind.GETTER, "data_delete_automacally")
class DataDeleteAutomacally(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; without the key it stays.

    Upstream takes any change of what sites may do for it, such as forbidden notifications.
    """

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""
        return yes(at(settings, "profile.default_content_setting_values.cookies") == SESSION_ONLY)
