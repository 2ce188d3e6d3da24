"""Getters of the desktop itself."""

import json

from tests.factories.desktops import linux
from tests.factories.getter_cases import GetterCase

WINDOWS = json.dumps([{"class": ["vlc", "Vlc"], "width": 640, "height": 480}])

CASES = {
    "vm_screen_size": GetterCase(
        parameters={},
        found=linux,
        value={"width": 640, "height": 480},
        absent=linux,
        absent_value={"width": 640, "height": 480},
    ),
    "vm_window_size": GetterCase(
        parameters={"app_class_name": "vlc"},
        found=lambda: linux(python=WINDOWS),
        value={"width": 640, "height": 480},
        absent=lambda: linux(python="[]"),
    ),
    "vm_wallpaper": GetterCase(
        parameters={"dest": "wall.png"},
        found=lambda: linux(picture=b"PNG"),
        value="{folder}/wall.png",
        absent=linux,
    ),
}
