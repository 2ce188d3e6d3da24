"""`steps`: one row per step: picture, words, actions, and which trajectory it belongs to."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef
from backend.domain.ports.training import Column
from backend.domain.registry import PluginKind, register
from backend.domain.training._common import HEAD, all_pictures, head
from backend.domain.training._step import COLUMNS, row


@register(PluginKind.TRAINING, "steps")
class Steps:
    """The state that the agent left is the last row, `final`, with no action."""

    about = "One row per step: picture, words, actions."
    columns: Mapping[str, Column] = {**HEAD, **COLUMNS}

    def refuses(self, recorded: ExportedAttempt) -> str:  # noqa: ARG002 - the port's signature
        """Never."""
        return ""

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        same = head(recorded)
        return ({**same, **row(step)} for step in recorded.steps)

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        return all_pictures(recorded)
