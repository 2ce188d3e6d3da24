import io
from typing import Any

import pytest
from PIL import Image

from backend.domain.errors import GuestLost
from backend.domain.model.run import ScreenSize
from tests.error_codes import raises_code
from tests.factories.health import health_of
from worker.desktops import replies
from worker.desktops.wire import Reply


def picture(form: str, size: tuple[int, int] = (30, 20)) -> bytes:
    buffer = io.BytesIO()
    Image.new("RGB", size).save(buffer, form)
    return buffer.getvalue()


class TestFrame:
    @pytest.mark.parametrize(("form", "media_type"), [("JPEG", "image/jpeg"), ("PNG", "image/png")])
    def test_size_and_type_are_the_picture_s_own(self, form: str, media_type: str) -> None:
        frame = replies.frame(Reply(picture(form), "text/html"))
        assert (frame.width, frame.height, frame.media_type) == (30, 20, media_type)

    @pytest.mark.parametrize("data", [b"", b"rubbish", picture("JPEG")[:10], picture("GIF"), picture("BMP")])
    def test_invalid_pictures_are_refused(self, data: bytes) -> None:
        with raises_code(GuestLost, "guest_protocol_error"):
            replies.frame(Reply(data, "image/jpeg"))


class TestExecResult:
    def test_a_cut_output_says_so(self) -> None:
        value = {"returncode": 0, "output": "x", "error": "", "truncated": True}
        assert replies.exec_result(value).output.startswith("x\n[truncated")
        assert replies.exec_result(value).truncated
        assert not replies.exec_result(value | {"truncated": False}).truncated

    def test_another_name_of_the_code(self) -> None:
        assert replies.exec_result({"return_code": 3, "output": "", "error": "e"}, "return_code").returncode == 3

    @pytest.mark.parametrize(
        "value", [{}, {"returncode": "x", "output": "", "error": ""}, {"returncode": 0, "output": ""}]
    )
    def test_malformed_command_result_loses_the_desktop(self, value: dict[str, Any]) -> None:
        with pytest.raises(GuestLost):
            replies.exec_result(value)


PROBE: dict[str, Any] = {
    "api": "1.0",
    "platform": "Linux",
    "screen": {"width": 800, "height": 600, "scale": 1.0},
    "capabilities": ["a11y"],
    "clock": 5.0,
    "more": "x",
}


class TestHealth:
    def test_a_health_report_is_read(self) -> None:
        screen = ScreenSize(width=800, height=600)
        value = health_of(screen, licence_days=3.5).model_dump(mode="json")
        assert replies.health(value | {"status": "success"}).licence_days == 3.5

    @pytest.mark.parametrize(
        "wrong", [{"clock": "late"}, {"clock": float("nan")}, {"disks": []}, {"pending": ["x"] * 101}, {"screen": None}]
    )
    def test_malformed_health_loses_the_desktop(self, wrong: dict[str, Any]) -> None:
        value = health_of(ScreenSize(width=800, height=600)).model_dump(mode="json")
        with raises_code(GuestLost, "guest_protocol_error"):
            replies.health(value | wrong)


class TestProbe:
    def test_a_probe_is_read(self) -> None:
        probe = replies.probe(PROBE)
        assert (probe.platform, probe.screen, probe.capabilities) == (
            "Linux",
            ScreenSize(width=800, height=600),
            ("a11y",),
        )

    @pytest.mark.parametrize(
        "change",
        [{"screen": None}, {"screen": {}}, {"screen": {"width": 1, "height": 1}}, {"clock": "x"}, {"api": None}],
    )
    def test_malformed_probe_loses_the_desktop(self, change: dict[str, Any]) -> None:
        with pytest.raises(GuestLost):
            replies.probe(PROBE | change)


WINDOW: dict[str, Any] = {
    "id": 1,
    "title": "t" * 5000,
    "wm_class": "c",
    "x": -5,
    "y": 0,
    "width": 10,
    "height": 10,
    "active": True,
    "pid": None,
}


class TestWindows:
    def test_long_titles_are_cut(self) -> None:
        window = replies.windows({"windows": [WINDOW]})[0]
        assert (len(window.title), window.x, window.active, window.pid) == (1000, -5, True, None)

    @pytest.mark.parametrize(
        "windows", [None, {}, [{}], [None], ["x"], [WINDOW | {"x": "far"}], [WINDOW] * 1001], ids=str
    )
    def test_malformed_windows_lose_the_desktop(self, windows: Any) -> None:
        with pytest.raises(GuestLost):
            replies.windows({"windows": windows})


class TestText:
    def test_field_that_is_not_text_loses_the_desktop(self) -> None:
        assert replies.text({"a": "x"}, "a") == "x"
        with pytest.raises(GuestLost):
            replies.text({"a": 5}, "a")


class TestNumber:
    @pytest.mark.parametrize("value", [None, "1", True])
    def test_field_that_is_not_a_number_loses_the_desktop(self, value: Any) -> None:
        assert replies.number({"a": 1}, "a") == 1.0
        with pytest.raises(GuestLost):
            replies.number({"a": value}, "a")
