"""The port of run formats: how a whole run is written for another tool."""

from collections.abc import Callable, Iterable, Iterator
from typing import Protocol

from backend.domain.model.run_export import ExportedEpisode, ExportedRun
from backend.domain.model.trajectory_export import PictureRef

ReadPicture = Callable[[PictureRef], bytes | None]
"""Bytes of a picture; None if it no longer exists, or pictures are not exported."""
NamedFile = tuple[str, bytes]


class RunFormat(Protocol):
    """Writes a run as files of one zip, an episode at a time. Pure: the same run gives the same files.

    Attributes:
        suffix: of the zip's name.
        media_type: of the zip.
    """

    suffix: str
    media_type: str

    def files(
        self, run: ExportedRun, episodes: Iterable[ExportedEpisode], read_picture: ReadPicture
    ) -> Iterator[NamedFile]:
        """Path and content of each file, in order. `episodes` is read once."""
        ...
