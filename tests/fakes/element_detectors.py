"""Eyes in memory: a fake browser, text that was put there, detectors from a table."""

from collections.abc import Mapping, Sequence
from typing import Any

from backend.domain.errors import ModelApiFailed
from backend.domain.model.trajectory import Frame
from backend.domain.ports.web import Browser
from tests.fakes.browser import FakeBrowser


class FakeEyes:
    """Returns scripted elements.

    Attributes:
        browsers: what listens, by port.
        text: what OCR reads; None = it takes too long.
        detectors: name to what that detector says.
        asked: languages and names of detectors, in order.
    """

    def __init__(self, browser: FakeBrowser | None = None) -> None:
        self.browsers: dict[int, FakeBrowser] = {9222: browser or FakeBrowser(running=False)}
        self.text: Sequence[Mapping[str, Any]] | None = ()
        self.detectors: dict[str, Sequence[Mapping[str, Any]]] = {}
        self.asked: list[str] = []

    def browser(self, port: int = 9222) -> Browser:
        return self.browsers.get(port, FakeBrowser(running=False))

    def read(self, picture: Frame, language: str = "eng") -> Sequence[Mapping[str, Any]] | None:
        self.asked.append(language)
        return self.text

    def detect(self, endpoint: str, picture: Frame) -> Sequence[Mapping[str, Any]]:
        self.asked.append(endpoint)
        if endpoint not in self.detectors:
            raise ModelApiFailed(f"there is no element detector {endpoint!r} here")
        return self.detectors[endpoint]
