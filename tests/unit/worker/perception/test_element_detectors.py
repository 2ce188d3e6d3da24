import base64
import threading
from collections.abc import Iterator
from typing import Any

import pytest

from backend.domain.errors import Invalid, ModelApiFailed
from tests.error_codes import raises_code
from tests.fakes.desktop import FakeDesktop
from tests.fakes.detector import FakeDetector
from worker.perception.element_detectors import Detectors

PICTURE = FakeDesktop().frame()


@pytest.fixture
def detector() -> Iterator[FakeDetector]:
    with FakeDetector().serving() as found:
        yield found


class TestDetect:
    def test_detector_reply_is_returned(self, detector: FakeDetector) -> None:
        assert Detectors({"omni": detector.address}).detect("omni", PICTURE) == [
            {"type": "text", "bbox": [0.1, 0.2, 0.3, 0.4], "content": "Total", "interactivity": False},
            {"type": "icon", "bbox": [0.5, 0.5, 0.6, 0.6], "content": "", "interactivity": True},
        ]
        (asked,) = detector.asked
        assert base64.b64decode(asked["base64_image"]) == PICTURE.data

    def test_unknown_detector_is_refused(self) -> None:
        with raises_code(ModelApiFailed, "unknown_detector", mentions="'other'") as raised:
            Detectors({"omni": "http://127.0.0.1:1/"}).detect("other", PICTURE)
        assert "DESKARENA_DETECTORS" in raised.value.hint

    def test_address_is_not_accepted_as_a_name(self, detector: FakeDetector) -> None:
        with pytest.raises(ModelApiFailed):
            Detectors({"omni": "http://127.0.0.1:1/"}).detect(detector.address, PICTURE)
        assert detector.asked == []

    def test_unreachable_detector_fails(self) -> None:
        with raises_code(ModelApiFailed, "detector_failed"):
            Detectors({"omni": "http://127.0.0.1:1/"}).detect("omni", PICTURE)

    def test_slow_detector_fails(self, detector: FakeDetector) -> None:
        detector.silent = threading.Event()
        with raises_code(ModelApiFailed, "detector_failed", mentions="in time"):
            Detectors({"omni": detector.address}, seconds=0.3).detect("omni", PICTURE)

    @pytest.mark.parametrize("status", [302, 404, 429, 500])
    def test_error_status_and_redirect_fail(self, detector: FakeDetector, status: int) -> None:
        detector.status, detector.location = status, "http://127.0.0.1:1/"
        with raises_code(ModelApiFailed, "detector_failed", mentions=str(status)):
            Detectors({"omni": detector.address}).detect("omni", PICTURE)

    @pytest.mark.parametrize(
        "answer",
        [b"", b"[" * 100_000, [], {}, {"parsed_content_list": 5}, {"parsed_content_list": [5]},
         {"parsed_content_list": [{}]},
         {"parsed_content_list": [{"bbox": [1, 2]}]}, {"parsed_content_list": [{"bbox": ["a"] * 4}]},
         b'{"parsed_content_list": [{"bbox": [NaN, 0, 0, 1]}]}'],
        ids=range(10),
    )  # fmt: skip
    def test_invalid_response_fails(self, detector: FakeDetector, answer: Any) -> None:
        detector.answer = answer
        with raises_code(ModelApiFailed, "detector_failed"):
            Detectors({"omni": detector.address}).detect("omni", PICTURE)

    def test_elements_and_text_are_bounded(self, detector: FakeDetector) -> None:
        detector.answer = {"parsed_content_list": [{"bbox": [0, 0, 1, 1], "content": "x" * 5000}] * 3000}
        found = Detectors({"omni": detector.address}).detect("omni", PICTURE)
        assert (len(found), len(found[0]["content"])) == (2000, 1000)


class TestDetectors:
    @pytest.mark.parametrize("address", ["ftp://a/", "http://", "http://user:word@host/", "file:///etc/passwd", "omni"])
    def test_invalid_address_is_refused(self, address: str) -> None:
        with pytest.raises(Invalid):
            Detectors({"omni": address})
