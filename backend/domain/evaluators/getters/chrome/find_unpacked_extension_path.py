"""`find_unpacked_extension_path`: paths of the installed extensions."""

from collections.abc import Mapping
from typing import Any

from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "find_unpacked_extension_path")
class FindUnpackedExtensionPath(ProfileSetting):
    """`user_data_dir`. The value is a list of paths: absolute for unpacked extensions, else relative to the profile."""

    def value(self, settings: Mapping[str, Any]) -> Any:
        installed = at(settings, "extensions.settings", {})
        extensions = installed.values() if isinstance(installed, Mapping) else ()
        return [path for extension in extensions if isinstance(path := at(extension, "path"), str)]
