import io

from PIL import Image

from guest_server.protocol.frames import to_jpeg, to_png
from guest_server.protocol.machine import ScreenFrame

BLUE, RED = b"\xff\x00\x00\x00", b"\x00\x00\xff\x00"
SHOT = ScreenFrame((BLUE * 16 + RED * 16 + b"\0" * 8) * 16, 32, 16, 32 * 4 + 8)


class TestToPng:
    def test_colours_and_stride(self) -> None:
        with Image.open(io.BytesIO(to_png(SHOT))) as image:
            assert image.size == (32, 16)
            assert (image.getpixel((0, 15)), image.getpixel((31, 0))) == ((0, 0, 255), (255, 0, 0))


class TestToJpeg:
    def test_size_and_scale(self) -> None:
        data, width, height = to_jpeg(SHOT, quality=90, scale=0.5)
        with Image.open(io.BytesIO(data)) as image:
            assert (image.format, image.size) == ("JPEG", (16, 8))
        assert (width, height) == (16, 8)

    def test_colours_are_right(self) -> None:
        """Blue on the left, red on the right, in any byte order of the screen."""
        data, _, _ = to_jpeg(SHOT, quality=95)
        with Image.open(io.BytesIO(data)) as image:
            left, right = image.getpixel((2, 8)), image.getpixel((29, 8))
        assert isinstance(left, tuple)
        assert isinstance(right, tuple)
        assert (left[0] < 60, left[2] > 200) == (True, True)
        assert (right[0] > 200, right[2] < 60) == (True, True)

    def test_is_the_same_as_by_the_long_way(self) -> None:
        with Image.open(io.BytesIO(to_png(SHOT))) as image:
            buffer = io.BytesIO()
            image.save(buffer, "JPEG", quality=80)
        assert to_jpeg(SHOT, quality=80)[0] == buffer.getvalue()

    def test_takes_the_live_screen(self) -> None:
        live = ScreenFrame(memoryview(SHOT.pixels), SHOT.width, SHOT.height, SHOT.stride)
        assert to_jpeg(live, quality=80) == to_jpeg(SHOT, quality=80)
