"""A scripted guest for each test."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.unit.desktops.server import Server


@pytest.fixture
def server(tmp_path: Path) -> Iterator[Server]:
    with Server(tmp_path) as started:
        yield started
