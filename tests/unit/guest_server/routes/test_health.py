from guest_server.protocol.machine import ScreenFrame
from guest_server.routes.health import is_black

WIDTH, HEIGHT = 320, 200


def shot(value: int, bright: int = 0) -> ScreenFrame:
    """A grey picture with a white square of this side in pixels."""
    stride = WIDTH * 4 + 16
    pixels = bytearray(bytes([value, value, value, 255]) * WIDTH + bytes(16)) * HEIGHT
    for row in range(bright):
        pixels[row * stride : row * stride + bright * 4] = b"\xff" * (bright * 4)
    return ScreenFrame(bytes(pixels), WIDTH, HEIGHT, stride)


class TestIsBlack:
    def test_nothing_is_shown(self) -> None:
        assert is_black(shot(0))

    def test_a_pointer_is_not_a_picture(self) -> None:
        assert is_black(shot(3, bright=8))

    def test_a_dark_wallpaper_is_one(self) -> None:
        assert not is_black(shot(20))

    def test_a_window_on_black_is_one(self) -> None:
        assert not is_black(shot(0, bright=100))

    def test_a_live_screen_is_looked_at_without_a_copy(self) -> None:
        black = shot(0)
        assert is_black(ScreenFrame(memoryview(bytearray(black.pixels)), WIDTH, HEIGHT, black.stride))
