"""`chrome_appearance_mode_ui`: light or dark mode on the settings page."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any

from backend.domain.browser.profiles import CHROME
from backend.domain.errors import GuestRefused
from backend.domain.evaluators.getters._evidence import absence, as_json, json_value
from backend.domain.evaluators.getters._live import NO_PAGES, background_page
from backend.domain.evaluators.getters._profile import PREFERENCES, ProfileParameters, ProfileSetting, collect_files
from backend.domain.evaluators.getters.chrome._colours import colour_name, scheme
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext
from backend.domain.registry import PluginKind, register

URL = "chrome://settings/appearance"
CHOICE = """new Promise(done => {
  const find = root => {
    for (const each of root.querySelectorAll('*')) {
      if (each.id === 'colorSchemeModeSelect') return each;
      const inner = each.shadowRoot && find(each.shadowRoot);
      if (inner) return inner;
    }
    return null;
  };
  let looks = 0;
  const timer = setInterval(() => {
    const select = find(document);
    looks += 1;
    if (select || looks >= 40) { clearInterval(timer); done(select ? select.value : null); }
  }, 100);
})"""
"""The value of the page's list `Mode`, which the browser writes to disk only seconds later."""


@register(PluginKind.GETTER, "chrome_appearance_mode_ui")
class ChromeAppearanceModeUi(ProfileSetting):
    """`user_data_dir`. The value is `light`, `dark` or `system`; None if there is no profile.

    Read from the settings page, opened in the background; if no browser answers, from the profile.
    """

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        files = collect_files(context, CHROME, PREFERENCES, ProfileParameters.parse(parameters).user_data_dir)
        try:
            with background_page(context.browser(), URL, settled=False) as tab:
                choice = context.browser().evaluate(tab.id, CHOICE)
        except GuestRefused as error:
            return [absence(URL, error, NO_PAGES | {"failed"}), *files]
        return [as_json(URL, choice), *files]

    def value(self, settings: Mapping[str, Any]) -> Any:
        """The mode in the profile."""
        return scheme(settings)

    def read(self, blobs: Sequence[Blob], parameters: Mapping[str, Any], folder: Path) -> Any:
        choice = colour_name(json_value(blobs[0])) if blobs and blobs[0].data is not None else None
        return choice or super().read(blobs[1:], parameters, folder)
