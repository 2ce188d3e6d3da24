"""`trajectories`: one row per trajectory, with all of its steps, measures and provenance."""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

from backend.domain.model.trajectory_export import ExportedAttempt, PictureRef
from backend.domain.ports.training import Column
from backend.domain.registry import PluginKind, register
from backend.domain.training._common import HEAD, all_pictures, head
from backend.domain.training._step import COLUMNS, row


@register(PluginKind.TRAINING, "trajectories")
class Trajectories:
    """`source` has its provenance, `parts` its progress."""

    about = "One row per trajectory, with all of its steps, measures and provenance."
    columns: Mapping[str, Column] = {
        **HEAD,
        "ended_by": "text",
        "measures": "json",
        "parts": "json",
        "steps": [dict(COLUMNS)],
        "source": "json",
    }

    def refuses(self, recorded: ExportedAttempt) -> str:  # noqa: ARG002 - the port's signature
        """Never."""
        return ""

    def rows(self, recorded: ExportedAttempt) -> Iterator[Mapping[str, Any]]:
        yield {
            **head(recorded),
            "ended_by": recorded.ended_by,
            "measures": dict(recorded.measures),
            "parts": [
                {"name": part.name, "kind": part.kind.value, "value": part.value, "step": part.step, "app": part.app}
                for part in recorded.parts
            ],
            "steps": [row(step) for step in recorded.steps],
            "source": dict(recorded.source),
        }

    def pictures(self, recorded: ExportedAttempt) -> Iterable[PictureRef]:
        return all_pictures(recorded)
