"""Progress of long-running work: phase, duration, limit and what the screen shows."""

from worker.activity.lines import ProgressLines
from worker.activity.screen import ScreenSample, ScreenState, ScreenWatch, decoded_png
from worker.activity.tracker import Activity, ActivitySource, Tracker

__all__ = [
    "Activity",
    "ActivitySource",
    "ProgressLines",
    "ScreenSample",
    "ScreenState",
    "ScreenWatch",
    "Tracker",
    "decoded_png",
]
