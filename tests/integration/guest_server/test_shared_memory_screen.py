"""Pictures through shared memory, as in a virtual machine; here from Xvfb, whose own picture is the reference."""

import os
import subprocess
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.guest_server.session import ROOT, RunningSession

pytestmark = pytest.mark.desktop

COMPARE = """
import io, subprocess, sys
from pathlib import Path
from PIL import Image, ImageChops
from guest_server.protocol.frames import to_png
from guest_server.linux.screen import XvfbScreen
from guest_server.linux.shared_memory_screen import ShmScreen
from guest_server.linux.x11 import XClient

display, framebuffer = sys.argv[1:]
right, ours = XvfbScreen(Path(framebuffer), XClient(display), display), ShmScreen(display)

def picture(screen):
    return Image.open(io.BytesIO(to_png(screen.grab()))).convert("RGB")

for place in ("600,400", "3,2", "1279,799", "0,799"):
    subprocess.run(["xdotool", "mousemove", *place.split(",")], check=True)
    assert ours.pointer() == tuple(map(int, place.split(",")))
    difference = max(high for _, high in ImageChops.difference(picture(right), picture(ours)).getextrema())
    print("pixels", place, difference)
print("size", ours.width, ours.height)
print("still", ours.wait_stable(0.2, 5.0))
subprocess.run(["xrandr", "--fb", "800x600"], capture_output=True)
print("later", picture(ours).size, (ours.width, ours.height))
"""


@pytest.fixture
def own(tmp_path: Path) -> Iterator[RunningSession]:
    """A separate session, because the test changes the size of its screen."""
    with RunningSession(tmp_path) as started:
        yield started


class TestShmScreen:
    def test_shows_what_the_server_itself_shows_with_the_pointer(self, own: RunningSession) -> None:
        """One step of a colour may be rounded otherwise, where the pointer is half transparent."""
        own.desktop.execute(["xsetroot", "-cursor_name", "left_ptr", "-solid", "#345678"])
        done = subprocess.run(
            ["/usr/bin/python3", "-c", COMPARE, own.ready["display"], str(own.run / "screen" / "Xvfb_screen0")],
            env={
                "PATH": os.environ["PATH"],
                "DISPLAY": own.ready["display"],
                "XAUTHORITY": str(own.run / "xauthority"),
                "PYTHONPATH": str(ROOT / "vm_images"),
                "PYTHONDONTWRITEBYTECODE": "1",
            },
            capture_output=True,
            text=True,
            check=False,
            timeout=60,
        )
        assert done.returncode == 0, done.stderr
        said = done.stdout.splitlines()
        assert [int(line.split()[2]) <= 1 for line in said if line.startswith("pixels")] == [True] * 4, said
        assert said[4:] == ["size 1280 800", "still True", "later (800, 600) (800, 600)"]
