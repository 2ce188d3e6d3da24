"""Set-up steps that use an account of Google: files of its drive, and signing in."""

import json
from collections.abc import Mapping
from typing import Any, ClassVar

import pytest

from backend.domain import registry
from backend.domain.errors import TaskSetupFailed
from backend.domain.ports.web import WebReply
from backend.domain.setup import run_step
from tests.error_codes import raises_code
from tests.factories.setup_cases.accounts import Google, browser, drive
from tests.factories.starter_tasks import FakeContext
from tests.fakes.desktop import FakeDesktop

registry.load()


@pytest.fixture
def desktop() -> FakeDesktop:
    return FakeDesktop()


class TestGoogleDrive:
    STEP: ClassVar = {"operation": ["delete"], "args": [{"query": "title = 'x'"}], "settings_file": "a.yml"}

    def test_files_go_before_folders(self, desktop: FakeDesktop) -> None:
        google = drive()

        def answer(_method: str, url: str, _headers: Mapping[str, str], _body: bytes) -> WebReply:
            kind = "folder" if "mimeType+%3D" in url else "file"
            told = {"access_token": "t"} if url.endswith("/token") else {"items": [{"id": kind}]}
            return WebReply(url=url, status=200, headers={}, body=json.dumps(told).encode(), fetched_at=0)

        google.web.answer = answer  # type: ignore[attr-defined]
        run_step(google, "googledrive", self.STEP)
        sent = [url.rpartition("/")[2] for method, url in google.web.sent if method == "DELETE"]  # type: ignore[attr-defined]
        assert sent == ["file", "folder"]

    def test_without_an_account_it_says_what_to_do(self, desktop: FakeDesktop) -> None:
        with raises_code(TaskSetupFailed, "lost", mentions="'googledrive_settings'"):
            run_step(FakeContext(desktop), "googledrive", self.STEP)

    @pytest.mark.parametrize("secret", ["no json", "[]", '{"client_id": "x"}'])
    def test_an_account_that_is_none(self, desktop: FakeDesktop, secret: str) -> None:
        google = FakeContext(desktop)
        google.secrets["googledrive_settings"] = secret
        with raises_code(TaskSetupFailed, "step_failed", mentions="googledrive_settings"):
            run_step(google, "googledrive", self.STEP)

    def test_an_account_that_google_refuses(self, desktop: FakeDesktop) -> None:
        google = drive()
        google.web.answer = lambda _m, url, _h, _b: WebReply(  # type: ignore[attr-defined]
            url=url, status=400, headers={}, body=b'{"error": "invalid_grant"}', fetched_at=0
        )
        with raises_code(TaskSetupFailed, "step_failed", mentions="invalid_grant"):
            run_step(google, "googledrive", self.STEP)


class TestLogin:
    def test_a_second_factor_is_a_failure(self, desktop: FakeDesktop) -> None:
        class Asks(Google):
            def evaluate(self, tab: str, expression: str, *, timeout: float = 10.0) -> Any:
                return super().evaluate(tab, expression, timeout=timeout) and "location" not in expression

        google = browser()
        google.browsers[9222] = Asks()
        with raises_code(TaskSetupFailed, "login_failed"):
            run_step(google, "login", {"platform": "googledrive"})

    def test_an_account_without_a_password(self, desktop: FakeDesktop) -> None:
        google = browser()
        google.secrets["google_settings"] = '{"email": "a@mail.example"}'
        with raises_code(TaskSetupFailed, "secret_not_usable"):
            run_step(google, "login", {"platform": "googledrive"})
