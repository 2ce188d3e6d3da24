import json
from pathlib import Path

import pytest

from backend.domain.errors import EvaluatorFailed
from backend.domain.evaluators.getters.info.vm_wallpaper import VmWallpaper
from backend.domain.evaluators.getters.info.vm_window_size import VmWindowSize
from backend.domain.model.score import Blob
from tests.error_codes import raises_code
from tests.factories.desktops import linux, refuses, windows
from tests.fakes.desktop import FakeWindow

NOWHERE = Path("unused")
VLC = {"app_class_name": "VLC"}


class TestVmWindowSize:
    def test_first_window_of_the_class_counts_ignoring_case(self) -> None:
        result = [
            {"class": ["xterm", "XTerm"], "width": 1, "height": 1},
            {"class": ["vlc", "Vlc"], "width": 640, "height": 480},
            {"class": ["vlc", "Vlc"], "width": 2, "height": 2},
        ]
        blobs = VmWindowSize().collect(linux(python=json.dumps(result)), VLC)
        assert VmWindowSize().read(blobs, VLC, NOWHERE) == {"width": 640, "height": 480}

    def test_on_windows_the_guest_lists_its_windows(self) -> None:
        context = windows(open_windows=[FakeWindow(title="VLC", wm_class="vlc.Vlc", width=7, height=8)])
        assert VmWindowSize().read(VmWindowSize().collect(context, VLC), VLC, NOWHERE) == {"width": 7, "height": 8}

    @pytest.mark.parametrize("said", ["null", '[{"class": 1}]', '[{"class": ["vlc"], "width": "x"}]', "["])
    def test_damaged_window_list_gives_no_verdict(self, said: str) -> None:
        with pytest.raises(EvaluatorFailed):
            VmWindowSize().read([Blob(name="w", data=said.encode())], VLC, NOWHERE)

    def test_desktop_without_python_gives_no_verdict(self) -> None:
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="no python here"):
            VmWindowSize().read(VmWindowSize().collect(linux(), VLC), VLC, NOWHERE)


class TestVmWallpaper:
    def test_a_picture_that_cannot_be_read_is_not_a_plain_colour(self) -> None:
        context = linux()
        context.desktop.wallpaper = refuses("the picture is damaged", "failed").__get__(context.desktop)
        with raises_code(EvaluatorFailed, "evidence_unreadable", mentions="damaged"):
            VmWallpaper().read(VmWallpaper().collect(context, {"dest": "a.png"}), {"dest": "a.png"}, NOWHERE)
