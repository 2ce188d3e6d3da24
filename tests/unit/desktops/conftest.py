"""A scripted guest for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.desktops.server import GuestSocketServer


@pytest.fixture
def server(tmp_path: Path) -> Iterator[GuestSocketServer]:
    with GuestSocketServer(tmp_path) as started:
        yield started
