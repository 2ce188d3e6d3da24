"""A real desktop session per module, on the system's own Python, as the sandbox starts it."""

import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

ROOT = Path(__file__).resolve().parents[3]
if str(ROOT / "vm_images") not in sys.path:
    sys.path.insert(0, str(ROOT / "vm_images"))

from tests.integration.guest_server.session import RunningSession  # noqa: E402


@pytest.fixture(scope="module")
def session(tmp_path_factory: pytest.TempPathFactory) -> Iterator[RunningSession]:
    """One session that the tests of a module share."""
    with RunningSession(tmp_path_factory.mktemp("desktop")) as started:
        yield started


@pytest.fixture
def clean(session: RunningSession) -> Iterator[RunningSession]:
    """The shared session without any window, before and after."""
    session.close_windows()
    yield session
    session.close_windows()
