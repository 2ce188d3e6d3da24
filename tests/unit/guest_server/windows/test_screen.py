"""Pictures of the screen, on a GDI in memory whose freed memory is spoilt at once."""

import ctypes
from typing import Any

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.windows import screen as windows_screen
from guest_server.windows.screen import GdiScreen
from tests.error_codes import raises_fields

SPOILT, DRAWN = 0xDD, 0x11


class FakeGdi:
    """The functions of gdi32 that the screen calls; handles are the places of memory."""

    def __init__(self) -> None:
        self.memory: dict[int, Any] = {}
        self.full = False

    def CreateCompatibleDC(self, _screen: int) -> int:  # noqa: N802 - Windows' own names, here and below.
        return 7

    def CreateDIBSection(self, _screen: int, header: Any, _use: int, place: Any, *_: Any) -> int:  # noqa: N802
        if self.full:
            return 0
        buffer = (ctypes.c_ubyte * (4 * header._obj.width * -header._obj.height))()
        place._obj.value = ctypes.addressof(buffer)
        self.memory[place._obj.value] = buffer
        return int(place._obj.value)

    def SelectObject(self, *_: int) -> int:  # noqa: N802
        return 1

    def BitBlt(self, *_: int) -> int:  # noqa: N802
        for buffer in self.memory.values():
            ctypes.memset(buffer, DRAWN, len(buffer))
        return 1

    def DeleteObject(self, bitmap: int) -> None:  # noqa: N802
        buffer = self.memory.pop(bitmap)
        ctypes.memset(buffer, SPOILT, len(buffer))
        self.spoilt = buffer  # Kept, so that who reads it reads that.

    def DeleteDC(self, _context: int) -> None:  # noqa: N802
        pass

    def GdiFlush(self) -> None:  # noqa: N802
        pass


class ChangingScreen:
    """A screen whose size changes; its pointer is hidden."""

    def __init__(self) -> None:
        self.size = (4, 3)

    def GetSystemMetrics(self, index: int) -> int:  # noqa: N802
        return self.size[index]

    def GetDC(self, _window: None) -> int:  # noqa: N802
        return 5

    def ReleaseDC(self, *_: Any) -> None:  # noqa: N802
        pass

    def GetCursorInfo(self, _cursor: Any) -> int:  # noqa: N802
        return 0


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> tuple[FakeGdi, ChangingScreen]:
    gdi, user = FakeGdi(), ChangingScreen()
    monkeypatch.setattr(windows_screen, "gdi32", gdi)
    monkeypatch.setattr(windows_screen, "user32", user)
    return gdi, user


class TestGdiScreen:
    def test_a_peeked_picture_outlives_a_change_of_the_size(self, windows: tuple[FakeGdi, ChangingScreen]) -> None:
        screen = GdiScreen()
        seen = screen.peek()
        windows[1].size = (8, 6)
        assert (screen.grab().width, screen.grab().height) == (8, 6)
        assert bytes(seen.pixels) == bytes([DRAWN]) * 48

    def test_memory_is_given_back_once(
        self, windows: tuple[FakeGdi, ChangingScreen], monkeypatch: pytest.MonkeyPatch
    ) -> None:
        gdi, user = windows
        monkeypatch.setattr(windows_screen, "failure", lambda what: GuestError("failed", what))
        screen = GdiScreen()
        screen.grab()
        user.size, gdi.full = (8, 6), True
        with raises_fields(GuestError, kind="failed"):
            screen.grab()
        gdi.full = False
        assert len(screen.grab().pixels) == 8 * 6 * 4
        assert len(gdi.memory) == 1
