"""`default_search_engine`: the default search engine."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "default_search_engine")
class DefaultSearchEngine(ProfileSetting):
    """`user_data_dir`. The value is its short name; the default is Google."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "default_search_provider_data.template_url_data.short_name", "Google")


ENGINES = {
    f"485bf7d3-0215-45af-87dc-5388680000{number}": name
    for number, name in (("01", "Bing"), ("02", "Yahoo!"), ("03", "Google"), ("92", "DuckDuckGo"), ("15", "Yandex"))
}


@register(PluginKind.GETTER, "default_search_engine_from_edge")
class DefaultSearchEngineFromEdge(ProfileSetting):
    """Edge's default search engine.

    `user_data_dir`. The value is its name, `Unknown` for an unknown one; the default is Bing.
    """

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        guid = at(settings, "default_search_provider.synced_guid")
        return "Bing" if guid is None else ENGINES.get(str(guid), "Unknown")
