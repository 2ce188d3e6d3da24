"""Cases of the steps that use the operator's accounts and proxy."""

import json
from collections.abc import Mapping
from typing import Any

from backend.domain.ports.web import WebReply
from tests.factories.setup_cases import SetupCase
from tests.factories.starter_tasks import FakeContext
from tests.fakes.browser import FakeBrowser
from tests.fakes.desktop import FakeDesktop
from tests.fakes.web import FakeWeb

DRIVE = json.dumps({"client_id": "i", "client_secret": "s", "refresh_token": "r"})
ACCOUNT = json.dumps({"email": "a@mail.example", "password": "p"})
FILE = "https://files.example/invoice.pdf"


class Google(FakeBrowser):
    """Shows every field, and lets everybody in."""

    def __init__(self) -> None:
        super().__init__()
        self.typed: list[str] = []

    def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
        super().evaluate(tab, expression, timeout=timeout)
        return True

    def command(self, tab: str, method: str, parameters: Mapping[str, Any] | None = None) -> Mapping[str, Any]:
        self.typed.append((parameters or {})["text"])
        return super().command(tab, method, parameters)


def answer(method: str, url: str, headers: Mapping[str, str], body: bytes) -> WebReply:
    """An empty Drive in which everything works."""
    answer_body: dict[str, Any] = {"id": "made", "items": []}
    if url.endswith("/token"):
        answer_body = {"access_token": "t"}
    return WebReply(url=url, status=200, headers={}, body=json.dumps(answer_body).encode(), fetched_at=0.0)


def drive() -> FakeContext:
    """A context with an account and one file of the web."""
    web = FakeWeb()
    web.answer = answer
    return FakeContext(FakeDesktop(), web=web, secrets={"googledrive_settings": DRIVE}, assets={FILE: b"PDF"})


def browser() -> FakeContext:
    """A context with an account and a browser in front of Google's page."""
    return FakeContext(FakeDesktop(), browsers={9222: Google()}, secrets={"google_settings": ACCOUNT})


def typed(context: FakeContext) -> bool:
    """Both fields were filled."""
    google = context.browser()
    return isinstance(google, Google) and google.typed[:2] == ["a@mail.example", "p"]


CASES = {
    "googledrive": SetupCase(
        {
            "operation": ["delete", "mkdirs", "upload"],
            "args": [{"query": "title = 'x'", "trash": False}, {"path": ["a", "b"]}, {"url": FILE, "path": ["x.pdf"]}],
            "settings_file": "evaluation_examples/settings/googledrive/settings.yml",
        },
        drive,
        lambda context: "upload" in context.web.sent[-1][1] if isinstance(context.web, FakeWeb) else False,
        asks_desktop=False,
    ),
    "login": SetupCase({"platform": "googledrive", "settings_file": "settings.json"}, browser, typed),
    "proxy": SetupCase(
        {"client_password": "x"},
        lambda: FakeContext(FakeDesktop(), secrets={"upstream_proxy": "http://proxy.example:3128"}),
        asks_desktop=False,
    ),
}
