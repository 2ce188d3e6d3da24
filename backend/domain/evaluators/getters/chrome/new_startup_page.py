"""`new_startup_page`: whether the browser starts with a new tab."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register

NEW_TAB = 5  # value in Chromium's session_startup_pref.h


@register(PluginKind.GETTER, "new_startup_page")
class NewStartupPage(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; the default is `true`."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return yes(at(settings, "session.restore_on_startup", NEW_TAB) == NEW_TAB)
