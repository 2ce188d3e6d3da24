"""`default_search_engine`: which search engine the address bar asks."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "default_search_engine")
class DefaultSearchEngine(ProfileSetting):
    """`user_data_dir`. The value is its short name; Chrome without the key asks Google."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The setting's value."""
        return at(settings, "default_search_provider_data.template_url_data.short_name", "Google")
