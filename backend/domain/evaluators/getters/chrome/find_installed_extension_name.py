"""`find_installed_extension_name`: names of the installed extensions."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "find_installed_extension_name")
class FindInstalledExtensionName(ProfileSetting):
    """`user_data_dir`. The value is a list of names of extensions whose manifest is in the settings.

    Upstream stops at the first extension without a manifest (built-in ones have none); this getter skips it.
    """

    def value(self, settings: Mapping[str, Any]) -> Any:
        installed = at(settings, "extensions.settings", {})
        extensions = installed.values() if isinstance(installed, Mapping) else ()
        return [name for extension in extensions if isinstance(name := at(extension, "manifest.name"), str)]
