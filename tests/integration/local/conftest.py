"""A desktop per test on one keeper per flavour: as root and as an ordinary user."""

from collections.abc import Iterator

import pytest

from tests.integration.desktop_supervisor.helpers import Guest, desktop, keeper
from worker.desktop_supervisor.client import DesktopSupervisorClient


@pytest.fixture(scope="module", params=["root", "user"])
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """A keeper as root and as an ordinary user, in turn."""
    with keeper(request.param) as found:
        yield found


@pytest.fixture
def guest(client: DesktopSupervisorClient) -> Iterator[Guest]:
    """A desktop on which hostile code runs."""
    with desktop(client) as found:
        yield found
