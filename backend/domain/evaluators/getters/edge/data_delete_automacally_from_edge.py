"""`data_delete_automacally_from_edge`: whether Edge forgets everything but its apps when it closes."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register

KEPT = "hosted_apps_data"
EVERYTHING = {
    name: name != KEPT
    for name in (
        *("browsing_history", "cache", "cookies", "download_history", "form_data", KEPT, "passwords", "site_settings"),
    )
}


@register(PluginKind.GETTER, "data_delete_automacally_from_edge")
class DataDeleteAutomacallyFromEdge(ProfileSetting):
    """`user_data_dir`. The value is 1.0 or 0.0; without the key it forgets nothing."""

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""
        return 1.0 if at(settings, "browser.clear_data_on_exit") == EVERYTHING else 0.0
