"""Every process of the service is replaced while it is in use: nobody notices."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tools.rolling_restart.roll import roll
from tools.rolling_restart.site import NGINX, Site

pytestmark = [
    pytest.mark.desktop,
    pytest.mark.stack,
    pytest.mark.timeout(900),
    pytest.mark.skipif(NGINX is None, reason="needs nginx, which `make test` installs where it may"),
]


@pytest.fixture
def site(tmp_path: Path) -> Iterator[Site]:
    made = Site(tmp_path)
    try:
        yield made
    finally:
        made.close()


@pytest.mark.campaign
class TestRollingRestart:
    def test_fails_no_request_and_loses_no_episode(self, site: Site) -> None:
        report = roll(site, rounds=1, repeats=4, steps=8, pause=0.4)
        assert report.faults == [], report.tally.failed[:10]
        assert report.episodes == 4
        assert set(report.tally.counts) == {"read", "page", "submit", "write", "long wait", "websocket"}
        assert report.tally.reconnected >= 1
