"""`login`: signs the desktop's browser in to a web service with the operator's account."""

import json
from collections.abc import Mapping
from typing import Any, Literal

from backend.domain.errors import TaskSetupFailed
from backend.domain.loop.polling import look_again
from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext
from backend.domain.ports.web import Browser
from backend.domain.registry import PluginKind, register

SECRET = "google_settings"  # noqa: S105 - the name under which the secret is kept
_PAGE = "https://drive.google.com/drive/my-drive"
_LOADING = 60.0
_LOOKS = 120  # 30 s
_EMAIL, _PASSWORD = 'input[type="email"]', 'input[type="password"]'  # noqa: S105 - selectors of a page


class _Login(Parameters):
    platform: Literal["googledrive"]
    settings_file: str = ""


@register(PluginKind.SETUP, "login")
class Login:
    """`platform`: `googledrive`; `settings_file` is not read.

    The account comes from the secret `google_settings`, a JSON object with `email` and `password`. If Google asks for
    more, this fails, where upstream continues: the task would be infeasible.
    """

    def check(self, parameters: Mapping[str, Any]) -> None:
        _Login.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        _Login.parse(parameters)
        email, password = _account(context.secret(SECRET))
        context.desktop.probe()
        browser = context.browser()
        try:
            _sign_in(context, browser, email, password)
        finally:
            browser.shut()


def _sign_in(context: SetupContext, browser: Browser, email: str, password: str) -> None:
    tab = browser.open(_PAGE, timeout=_LOADING).id
    _fill(context, browser, tab, _EMAIL, email, "#identifierNext button")
    _fill(context, browser, tab, _PASSWORD, password, "#passwordNext button")

    def arrived() -> bool:
        return bool(browser.evaluate(tab, "location.href.startsWith('https://drive.google.com/')"))

    if not look_again(context.desktop, arrived, looks=_LOOKS):
        raise TaskSetupFailed(
            "Google refused the sign-in",
            code="login_failed",
            hint="It may ask for a second factor: use an account without one.",
        )


def _fill(  # noqa: PLR0913, PLR0917 - one field of one page
    context: SetupContext, browser: Browser, tab: str, selector: str, text: str, button: str
) -> None:
    """Types into a field once it shows, and presses the button."""
    shows = f"(e => !!e && e.offsetParent !== null)(document.querySelector({json.dumps(selector)}))"
    if not look_again(context.desktop, lambda: bool(browser.evaluate(tab, shows)), looks=_LOOKS):
        raise TaskSetupFailed(
            f"Google's page has no field {selector}", code="login_failed", hint="Has its sign-in page changed?"
        )
    browser.evaluate(tab, f"document.querySelector({json.dumps(selector)}).focus()")
    # As if typed, so that the page's code notices it.
    browser.command(tab, "Input.insertText", {"text": text})
    browser.evaluate(tab, f"document.querySelector({json.dumps(button)}).click()")


def _account(text: str) -> tuple[str, str]:
    try:
        value = json.loads(text)
        return str(value["email"]), str(value["password"])
    except (ValueError, KeyError, TypeError) as error:
        raise TaskSetupFailed(
            f"the secret {SECRET!r} must be JSON with `email` and `password`", code="secret_not_usable"
        ) from error
