"""`edge_default_download_folder`: Edge's download folder."""

from collections.abc import Mapping
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "edge_default_download_folder")
class EdgeDefaultDownloadFolder(ProfileSetting):
    """`user_data_dir`. The value is the folder, `False` if none is set."""

    product = EDGE

    def value(self, settings: Mapping[str, Any]) -> Any:
        folder = at(settings, "download.default_directory")
        return folder if isinstance(folder, str) and folder else "False"
