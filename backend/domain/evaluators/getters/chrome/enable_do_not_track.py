"""`enable_do_not_track`: whether pages are asked not to track."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import Setting, at, yes
from backend.domain.registry import Kind, register


@register(Kind.GETTER, "enable_do_not_track")
class EnableDoNotTrack(Setting):
    """`user_data_dir`. The value is `true` or `false`; without the key Chrome does not ask."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""
        return yes(at(settings, "enable_do_not_track"))
