"""A desktop per test on one desktop supervisor per flavour: as root and as an ordinary user."""

from collections.abc import Iterator

import pytest

from tests.integration.desktop_supervisor.helpers import SandboxedGuest, desktop, supervisor
from worker.desktop_supervisor.client import DesktopSupervisorClient


@pytest.fixture(scope="module", params=["root", "user"])
def client(request: pytest.FixtureRequest) -> Iterator[DesktopSupervisorClient]:
    """A desktop supervisor as root and as an ordinary user, in turn."""
    with supervisor(request.param) as supervisor_client:
        yield supervisor_client


@pytest.fixture
def guest(client: DesktopSupervisorClient) -> Iterator[SandboxedGuest]:
    """A desktop on which hostile code runs."""
    with desktop(client) as local_desktop:
        yield local_desktop
