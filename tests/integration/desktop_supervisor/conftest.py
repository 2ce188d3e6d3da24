"""One desktop supervisor per flavour for all tests of this folder that do no harm to it."""

from collections.abc import Iterator

import pytest

from tests.integration.desktop_supervisor.helpers import FLAVOURS, supervisor
from worker.desktop_supervisor.client import DesktopSupervisorClient


@pytest.fixture(scope="module", params=FLAVOURS)
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """A desktop supervisor as root and as an ordinary user, in turn."""
    with supervisor(request.param) as supervisor_client:
        yield supervisor_client


@pytest.fixture(params=FLAVOURS)
def flavour(request: pytest.FixtureRequest) -> str:
    """For tests that need a desktop supervisor of their own."""
    return str(request.param)
