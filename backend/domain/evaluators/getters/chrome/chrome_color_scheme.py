"""`chrome_color_scheme`: whether the browser is light, dark or follows the system."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting
from backend.domain.evaluators.getters.chrome._colours import scheme
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "chrome_color_scheme")
class ChromeColorScheme(ProfileSetting):
    """`user_data_dir`. The value is `light`, `dark` or `system`; the default is `system`."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return scheme(settings)
