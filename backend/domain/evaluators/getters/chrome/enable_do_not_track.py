"""`enable_do_not_track`: whether the browser sends "Do Not Track"."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at, yes
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "enable_do_not_track")
class EnableDoNotTrack(ProfileSetting):
    """`user_data_dir`. The value is `true` or `false`; the default is `false`."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return yes(at(settings, "enable_do_not_track"))


@register(PluginKind.GETTER, "enable_do_not_track_from_edge")
class EnableDoNotTrackFromEdge(ProfileSetting):
    """Whether Edge sends "Do Not Track".

    `user_data_dir`. The value is 1.0 or 0.0; the default is 0.0.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        return 1.0 if at(settings, "enable_do_not_track") else 0.0
