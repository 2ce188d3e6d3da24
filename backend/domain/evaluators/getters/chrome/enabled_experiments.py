"""`enabled_experiments`: the enabled experiments (`chrome://flags`)."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import STATE, ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "enabled_experiments")
class EnabledExperiments(ProfileSetting):
    """`user_data_dir`. The value is a list of `name@choice`; the default is an empty list."""

    files = (STATE,)

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "browser.enabled_labs_experiments", [])
