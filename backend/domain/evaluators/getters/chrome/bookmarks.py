"""`bookmarks`, `favorites`: the browser's bookmarks."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.browser.profiles import EDGE
from backend.domain.evaluators.getters._profile import ProfileSetting, at
from backend.domain.model.score import Blob
from backend.domain.registry import PluginKind, register


@register(PluginKind.GETTER, "bookmarks")
class Bookmarks(ProfileSetting):
    """`user_data_dir`. The value is the file's `roots` (`bookmark_bar`, `other`, `synced`).

    Without the file, which the first bookmark creates, the value is an empty list, as upstream.
    """

    files = ("Default/Bookmarks",)

    def value(self, settings: Mapping[str, Any]) -> Any:
        return at(settings, "roots", {})

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        roots = super().read(blobs, parameters, folder)
        return [] if roots is None else roots


@register(PluginKind.GETTER, "favorites")
class Favorites(Bookmarks):
    """`bookmarks` of Edge."""

    product = EDGE
