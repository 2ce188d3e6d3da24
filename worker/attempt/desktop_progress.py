"""Records what an attempt waits for while its desktop is created, and streams the screen of a booting machine."""

import io
import logging
import time
from collections.abc import Callable, Mapping
from types import TracebackType
from typing import Self
from uuid import UUID

from backend.domain.errors import DeskarenaError
from backend.services.periodic_thread import PeriodicThread
from worker.activity import Activity, ScreenSample, Tracker, decoded_png
from worker.attempt.attempt_dependencies import AttemptLog
from worker.attempt.live_stream import RENEW_SECONDS, Viewers

LOG_SECONDS = 30.0
_FIRST_NUMBER = -(10**6)
"""Frames during creation have lower numbers than those of the desktop, which start at 1."""
LOOK_SECONDS = 1.0
LEAST_SECONDS = 2.0
"""Shorter phases are not recorded: cloning takes less."""
_END_SECONDS = 20.0
logger = logging.getLogger(__name__)


class DesktopProgressWatch:
    """Samples every second in a background thread while the context is active. Never affects the attempt."""

    def __init__(
        self,
        attempt_id: UUID,
        book: AttemptLog,
        tracker: Callable[[], Tracker | None],
        viewers: Viewers,
        *,
        now: Callable[[], float] = time.monotonic,
    ) -> None:
        """Does not start yet.

        Args:
            attempt_id: attempt whose desktop is created.
            book: record to write each phase to.
            tracker: activities of its slot; None if unknown.
            viewers: viewers of the live view, and sink of frames.
            now: monotonic clock.
        """
        self._attempt_id, self._book, self._tracker, self._viewers, self._now = attempt_id, book, tracker, viewers, now
        self._number = 0
        self._seq, self._sent_at, self._log_at = _FIRST_NUMBER, 0.0, 0.0
        self._rounds = PeriodicThread(
            "opening", self.look, every=LOOK_SECONDS, broken="progress of a desktop could not be recorded",
            errors=(DeskarenaError,),
        )  # fmt: skip

    def __enter__(self) -> Self:
        self._rounds.start()
        return self

    def __exit__(self, _: type[BaseException] | None, __: BaseException | None, ___: TracebackType | None) -> None:
        """Stops; nothing is written afterwards."""
        self._rounds.stop(_END_SECONDS)

    def look(self) -> None:
        """Takes one sample. Raises if nothing may be written any more."""
        tracker = self._tracker()
        activity = tracker.current if tracker is not None else None
        if tracker is None or activity is None or tracker.seconds(activity) < LEAST_SECONDS:
            return
        seconds = tracker.seconds(activity)
        if activity.number != self._number:
            self._number, self._log_at = activity.number, self._now()
            self._book.opening(facts_of(activity, seconds))
        look = None
        if activity.screen is not None and self._viewers.watched_width(self._attempt_id):
            look = activity.look()
            self._send(look)
        if self._now() >= self._log_at:
            self._log_at = self._now() + LOG_SECONDS
            progress = activity.progress(seconds, look or activity.look())
            logger.info("attempt %s: %s: %s", self._attempt_id, activity.subject, progress)

    def _send(self, look: ScreenSample | None) -> None:
        """Sends the picture to viewers: at once if it has changed, else before its key expires."""
        picture = decoded_png(look.png) if look is not None else None
        if look is None or picture is None or (look.still > 0 and self._now() - self._sent_at < RENEW_SECONDS):
            return
        out = io.BytesIO()
        picture.save(out, "JPEG", quality=70)
        self._seq, self._sent_at = self._seq + 1, self._now()
        meta = {"captured_at": time.time(), "width": picture.width, "height": picture.height, "step": 0}
        self._viewers.put_frame(self._attempt_id, self._seq, out.getvalue(), meta)


def facts_of(activity: Activity, seconds: float) -> Mapping[str, object]:
    """Fields of the attempt's record for a phase with that elapsed time."""
    return {
        "subject": activity.subject,
        "phase": activity.phase,
        "doing": activity.doing,
        "limit": activity.limit,
        "note": activity.note,
        "seconds": round(seconds, 1),
    }
