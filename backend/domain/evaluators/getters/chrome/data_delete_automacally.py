"""`data_delete_automacally`: whether site data is deleted when the browser closes."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register

SESSION_ONLY = 4  # value in Chromium's content_settings.mojom


@register(PluginKind.GETTER, "data_delete_automacally")
class DataDeleteAutomacally(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; the default is `false`.

    Upstream accepts any changed site permission, such as blocked notifications.
    """

    def value(self, settings: Mapping[str, Any]) -> Any:
        return yes(at(settings, "profile.default_content_setting_values.cookies") == SESSION_ONLY)


HOSTED_APPS = "hosted_apps_data"
EVERYTHING = {
    name: name != HOSTED_APPS
    for name in (
        *(
            "browsing_history",
            "cache",
            "cookies",
            "download_history",
            "form_data",
            HOSTED_APPS,
            "passwords",
            "site_settings",
        ),
    )
}


@register(PluginKind.GETTER, "data_delete_automacally_from_edge")
class DataDeleteAutomacallyFromEdge(ProfileSetting):
    """Whether Edge deletes browsing data when it closes.

    `user_data_dir`. The value is 1.0 or 0.0; the default is 0.0.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        return 1.0 if at(settings, "browser.clear_data_on_exit") == EVERYTHING else 0.0
