"""Base of getters of a browser's cookies."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.browser.cookies import FILES, await_written, runs
from backend.domain.evaluators.getters._profile import DatabaseParameters, ProfileDatabase
from backend.domain.model.score import Blob
from backend.domain.ports.task import SetupContext


class Cookies(ProfileDatabase):
    """`dest`, `user_data_dir`. The value is a list of rows of the table `cookies`; the host is the second of a row.

    None if the file does not exist. While the browser runs, the file is read once the last changes are in it.
    """

    names = FILES
    query = "SELECT * FROM cookies"

    def collect(self, context: SetupContext, parameters: Mapping[str, Any]) -> Sequence[Blob]:
        profile = DatabaseParameters.parse(parameters).user_data_dir
        platform = context.desktop.probe().platform
        if runs(context):
            await_written(context, (profile,) if profile else self.product.folders(platform))
        self.make_readable(context, platform)
        return super().collect(context, parameters)

    def make_readable(self, context: SetupContext, platform: str) -> None:
        """Makes the file readable while the browser runs, as the platform requires."""
