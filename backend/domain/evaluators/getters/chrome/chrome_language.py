"""`chrome_language`: the language of the browser's user interface."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import STATE, ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "chrome_language")
class ChromeLanguage(ProfileSetting):
    """`user_data_dir`. The value is a language such as `de`; the default is `en-US`."""

    files = (STATE,)

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "intl.app_locale", "en-US")
