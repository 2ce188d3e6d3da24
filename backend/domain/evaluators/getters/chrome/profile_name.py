"""`profile_name`: the name of the profile."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "profile_name")
class ProfileName(ProfileSetting):
    """`user_data_dir`. The value is the name, None if it has none."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "profile.name")


@register(PluginKind.GETTER, "profile_name_from_edge")
class ProfileNameFromEdge(ProfileSetting):
    """The name of Edge's profile.

    `user_data_dir`. The value is the name, None if it has none.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "profile.name")
