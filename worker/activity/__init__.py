"""Long work that tells what it waits for, for how long, and what the screen shows meanwhile."""

from worker.activity.lines import ProgressLines
from worker.activity.screen import Look, ScreenState, ScreenWatch, decoded_png
from worker.activity.tracker import Activity, Tracked, Tracker

__all__ = [
    "Activity",
    "Look",
    "ProgressLines",
    "ScreenState",
    "ScreenWatch",
    "Tracked",
    "Tracker",
    "decoded_png",
]
