"""People of an installation with accounts, and browsers in which they are signed in."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from fastapi import FastAPI
from fastapi.testclient import TestClient
from pydantic import SecretStr

from backend.config import Settings
from backend.services.accounts import users
from backend.web.app import create_app
from backend.web.security_middleware import COOKIE
from tests.factories.records import World

OWN = "http://127.0.0.1:8000"
SERVICE = "token-of-the-service"
PASSWORD = "correct horse battery"
LINK = re.compile(r"/join/(dkl_[\w-]+)")


@dataclass
class Team:
    """An installation with accounts; `app` serves it."""

    made: World
    app: FastAPI

    def browser(self, address: str = "198.51.100.7") -> TestClient:
        """Somebody's browser, not signed in."""
        return TestClient(
            self.app, base_url=OWN, raise_server_exceptions=False, follow_redirects=False, client=(address, 40000)
        )

    def add(self, name: str, role: str | None = "viewer", *, admin: bool = False) -> TestClient:
        """A person with `PASSWORD`, and the browser in which they chose it."""
        token = self.made.do(users.add_person, name, role=role, admin=admin)
        browser = self.browser()
        answer = browser.post(f"/join/{token}", data={"password": PASSWORD, "repeated": PASSWORD})
        assert answer.status_code == 303, answer.text
        return browser

    def sign_in(self, name: str, password: str = PASSWORD) -> TestClient:
        """A browser after an attempt to sign in."""
        browser = self.browser()
        browser.post("/login", data={"name": name, "password": password})
        return browser


def is_signed_in(browser: TestClient) -> bool:
    """Whether the browser may read the person's account."""
    return browser.get("/account").status_code == 200


def cookie_of(browser: TestClient) -> str:
    """The value of the session's cookie."""
    return browser.cookies.get(COOKIE) or ""


@contextmanager
def team(world: World, folder: Path, **more: Any) -> Iterator[Team]:
    """The installation, served with accounts and a token for programs; `more`: settings."""
    settings = Settings(data_dir=folder, accounts=True, token=SecretStr(SERVICE), **more)
    yield Team(world, create_app(settings, world.factory, world.store))
