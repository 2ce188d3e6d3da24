"""The size of the screen, asked of a Windows that only notes it."""

import ctypes
import logging
from typing import Any

import pytest

from guest_server.windows import display
from guest_server.windows.display import DevMode, show_size


class ResizableScreen:
    """A screen of 1024x768 that may be asked for another size."""

    def __init__(self, answer: int = 0) -> None:
        self.asked: list[tuple[int, int, int, int]] = []
        self._answer = answer

    def GetSystemMetrics(self, index: int) -> int:  # noqa: N802 - Windows' own names, here and below.
        return (1024, 768)[index]

    def ChangeDisplaySettingsExW(self, _device: None, mode: Any, *_: Any) -> int:  # noqa: N802
        told = mode._obj
        self.asked.append((told.size, told.fields, told.width, told.height))
        return self._answer


class TestMode:
    def test_is_laid_out_as_in_the_header(self) -> None:
        """DEVMODEW of wingdi.h has 220 bytes."""
        assert ctypes.sizeof(DevMode) == 220
        assert (DevMode.fields.offset, DevMode.width.offset, DevMode.height.offset) == (72, 172, 176)


class TestShowSize:
    def test_asks_for_both_sides(self, monkeypatch: pytest.MonkeyPatch) -> None:
        user = ResizableScreen()
        monkeypatch.setattr(display, "user32", user)
        show_size(1440, 900)
        assert user.asked == [(ctypes.sizeof(DevMode), 0x180000, 1440, 900)]

    def test_the_current_size_is_left(self, monkeypatch: pytest.MonkeyPatch) -> None:
        user = ResizableScreen()
        monkeypatch.setattr(display, "user32", user)
        show_size(1024, 768)
        assert user.asked == []

    def test_a_size_that_is_not_offered_is_logged(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setattr(display, "user32", ResizableScreen(-2))
        with caplog.at_level(logging.WARNING):
            show_size(1441, 901)
        assert "1441x901" in caplog.text
