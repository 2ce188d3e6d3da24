"""Steps `update_browse_history` and `update_browse_history_edge`: write a browser's history before it starts.

The database has the two tables that matter, in the form of schema version 70 (Chromium 156). The browser makes the
others when it starts, brings an older form up to date, and takes a newer one if `last_compatible_version` allows it.
Tables and times: Chromium, components/history/core/browser/{url,visit}_database.cc.
"""

import sqlite3
import tempfile
from collections.abc import Iterable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any, ClassVar

from pydantic import Field

from backend.domain.browser.profiles import CHROME, Product
from backend.domain.errors import TaskSetupFailed
from backend.domain.model.parameters import Parameters
from backend.domain.ports.task import SetupContext

_EPOCH = 11_644_473_600  # seconds from 1601, where the browser counts from, to 1970
_LINK = 0x30000000  # the visit is a link's, and neither came nor went on by a redirect
_TABLES = """
CREATE TABLE meta(key LONGVARCHAR NOT NULL UNIQUE PRIMARY KEY, value LONGVARCHAR);
INSERT INTO meta VALUES('mmap_status', '-1'), ('version', '70'), ('last_compatible_version', '16');
CREATE TABLE urls(id INTEGER PRIMARY KEY AUTOINCREMENT, url LONGVARCHAR, title LONGVARCHAR,
    visit_count INTEGER DEFAULT 0 NOT NULL, typed_count INTEGER DEFAULT 0 NOT NULL, last_visit_time INTEGER NOT NULL,
    hidden INTEGER DEFAULT 0 NOT NULL);
CREATE TABLE visits(id INTEGER PRIMARY KEY AUTOINCREMENT, url INTEGER NOT NULL, visit_time INTEGER NOT NULL,
    from_visit INTEGER, external_referrer_url TEXT, transition INTEGER DEFAULT 0 NOT NULL, segment_id INTEGER,
    visit_duration INTEGER DEFAULT 0 NOT NULL, incremented_omnibox_typed_score BOOLEAN DEFAULT FALSE NOT NULL,
    opener_visit INTEGER, originator_cache_guid TEXT, originator_visit_id INTEGER, originator_from_visit INTEGER,
    originator_opener_visit INTEGER, is_known_to_sync BOOLEAN DEFAULT FALSE NOT NULL,
    consider_for_ntp_most_visited BOOLEAN DEFAULT FALSE NOT NULL, visited_link_id INTEGER DEFAULT 0 NOT NULL,
    app_id TEXT, publicly_routable BOOLEAN DEFAULT FALSE NOT NULL);
CREATE INDEX urls_url_index ON urls(url);
CREATE INDEX visits_url_index ON visits(url);
CREATE INDEX visits_from_index ON visits(from_visit);
CREATE INDEX visits_time_index ON visits(visit_time);
CREATE INDEX visits_originator_id_index ON visits(originator_visit_id);
"""
_VISIT = "INSERT INTO visits(id, url, visit_time, from_visit, transition, segment_id) VALUES(?, ?, ?, 0, ?, 0)"
# Runs inside the desktop: prints which program the browser really is, because each has its own folder.
_WHICH = """
import os, shutil
found = shutil.which({program!r}) or ""
text = os.path.realpath(found)
if found and os.path.getsize(text) < 4096:
    with open(text, errors="replace") as file:
        text += file.read()
print("chromium" if "chromium" in text else "", end="")
"""


class _Visit(Parameters):
    url: str
    title: str
    visit_time_from_now_in_seconds: float = Field(ge=0)


class _History(Parameters):
    history: tuple[_Visit, ...]


def history_file(visits: Iterable[tuple[str, str, float]], now: float) -> bytes:
    """The file `History` with visits of (url, title, seconds before now); `now` in seconds since 1970."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "History"
        with closing(sqlite3.connect(path, isolation_level=None)) as connection:
            connection.executescript(_TABLES)
            for number, (url, title, ago) in enumerate(visits, start=1):
                when = int((now - ago + _EPOCH) * 1_000_000)
                connection.execute("INSERT INTO urls VALUES(?, ?, ?, 1, 0, ?, 0)", (number, url, title, when))
                connection.execute(_VISIT, (number, number, when, _LINK))
        return path.read_bytes()


class HistoryStep:
    """`history`: a list of `{url, title, visit_time_from_now_in_seconds}`. It replaces what the browser remembers.

    For a browser that does not run yet. The times are the desktop's; upstream takes its own, in its own time zone.
    """

    product: ClassVar[Product] = CHROME

    def check(self, parameters: Mapping[str, Any]) -> None:
        _History.parse(parameters)

    def run(self, context: SetupContext, parameters: Mapping[str, Any]) -> None:
        probe = context.desktop.probe()
        history = _History.parse(parameters).history
        visits = [(visit.url, visit.title, visit.visit_time_from_now_in_seconds) for visit in history]
        folder = self._folder(context, self.product.folders(probe.platform))
        context.desktop.write_file(f"{folder}/Default/History", history_file(visits, probe.clock))

    def _folder(self, context: SetupContext, folders: tuple[str, ...]) -> str:
        if len(folders) == 1:
            return folders[0]
        result = context.desktop.run_python(_WHICH.format(program=self.product.program))
        if result.returncode != 0:
            raise TaskSetupFailed(f"the browser is unknown: {result.error.strip()[-300:]}", code="command_failed")
        browser = result.output.strip()
        return next((folder for folder in folders if browser and browser in folder.lower()), folders[0])
