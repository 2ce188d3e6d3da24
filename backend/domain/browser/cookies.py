"""Waits until a browser has written its cookies to disk.

Chromium writes a change into its file up to 30 s later (kCommitInterval of
https://chromium.googlesource.com/chromium/src/+/main/net/extras/sqlite/sqlite_persistent_cookie_store.cc), and loses it
if it is ended earlier: an existing cookie then seems deleted, or a deleted one seems to exist.
"""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from backend.domain.browser.availability import why_silent
from backend.domain.errors import GuestRefused
from backend.domain.loop.polling import look_again
from backend.domain.model.task import Task
from backend.domain.ports.task import SetupContext

GETTERS = frozenset({"cookie_data", "cookie_data_for_edge"})
FILES = ("Default/Network/Cookies", "Default/Cookies")
_LOOKS = 140  # 35 s
_PARTS = ("domain", "name", "path")
_READ = """
import json, os, sqlite3
paths = [os.path.expandvars(os.path.expanduser(path)) for path in json.loads({paths!r})]
path = next(path for path in paths if os.path.exists(path))
base = sqlite3.connect("file:" + path + "?mode=ro&immutable=1", uri=True)
print(json.dumps(base.execute("SELECT host_key, name, path FROM cookies").fetchall()))
"""


def asks_for_cookies(task: Task) -> bool:
    """Whether the task's evaluation reads the browser's file of cookies."""
    sources = [source for call in task.evaluator.all_calls for source in (call.result, call.expected) if source]
    return any(source.get("type") in GETTERS for source in sources)


def runs(context: SetupContext) -> bool:
    """Whether a browser that offers DevTools is running, even if it hangs. Raises GuestLost."""
    try:
        return not why_silent(context.browser())
    except GuestRefused:
        return True


def await_written(context: SetupContext, folders: Sequence[str]) -> bool:
    """Waits until the file matches the running browser's cookies. False if that does not happen within 35 s.

    If DevTools does not reach the browser or its file cannot be read, waits the full time, after which everything is
    written.

    Args:
        context: the attempt's context.
        folders: the browser's user data folders, likeliest first.

    Raises:
        GuestLost: the desktop is dead.
    """
    paths = [f"{folder}/{name}" for folder in folders for name in FILES]
    read = _READ.format(paths=json.dumps(paths))
    return look_again(context.desktop, lambda: _is_written(context, read), looks=_LOOKS)


def _is_written(context: SetupContext, read: str) -> bool:
    try:
        browser = context.browser()
        tabs = browser.tabs()
        browser_cookies = browser.command(tabs[0].id, "Network.getAllCookies").get("cookies") if tabs else None
        rows = json.loads(context.desktop.run_python(read).output)
    except (GuestRefused, ValueError):
        return False
    if not isinstance(browser_cookies, list) or not isinstance(rows, list):
        return False
    cookies = {
        _key(cookie.get(part) for part in _PARTS): cookie.get("session")
        for cookie in browser_cookies
        if isinstance(cookie, dict)
    }
    lasting = {key for key, of_session in cookies.items() if of_session is not True}
    return lasting <= {_key(row) for row in rows if isinstance(row, list)} <= set(cookies)


def _key(parts: Iterable[Any]) -> tuple[str, ...]:
    return tuple(str(part) for part in parts)
