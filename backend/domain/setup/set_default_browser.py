"""`set_default_browser`: sets the browser that opens links."""

from collections.abc import Mapping
from typing import Any, Literal

from backend.domain.errors import TaskSetupFailed
from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

_KEY = r"HKCU\Software\Microsoft\Windows\Shell\Associations\UrlAssociations\http\UserChoice"
_PROGRAMS = {"chrome": "ChromeHTML", "edge": "MSEdgeHTM"}
_ENTRIES = {"chrome": ("google-chrome.desktop", "chromium.desktop"), "edge": ("microsoft-edge.desktop",)}


class _Browser(Parameters):
    browser: Literal["chrome", "edge"]


@register(PluginKind.SETUP, "set_default_browser")
class SetDefaultBrowser:
    """`browser`: `chrome` or `edge`.

    On Windows the registry value is set as in upstream, which notes that Windows may ignore it.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Browser.parse({**parameters, **_lower(parameters)})

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        browser = _Browser.parse({**parameters, **_lower(parameters)}).browser
        desktop = context.desktop
        if desktop.probe().platform == "Windows":
            command = ["reg", "add", _KEY, "/v", "ProgId", "/d", _PROGRAMS[browser], "/f"]
        else:
            # The first entry that is installed counts; xdg-settings refuses those that are not.
            tries = (f"xdg-settings set default-web-browser {entry}" for entry in _ENTRIES[browser])
            command = ["sh", "-c", " || ".join(tries)]
        result = desktop.execute(command)
        if result.returncode != 0:
            raise TaskSetupFailed(
                f"the default browser could not be set: {(result.error or result.output).strip()[-300:]}",
                code="command_failed",
            )


def _lower(parameters: Mapping[str, Any]) -> dict[str, str]:
    browser = parameters.get("browser")
    return {"browser": browser.lower()} if isinstance(browser, str) else {}
