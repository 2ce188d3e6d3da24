"""Long work that tells what it waits for, for how long, and what the screen shows meanwhile."""

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
