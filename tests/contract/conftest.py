"""Implementations of the ports that every contract suite runs against."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.ports import DesktopSpec, OpenDesktop, Provider
from backend.domain.run import Screen
from tests.fakes.provider import FakeProvider

SPEC = DesktopSpec(screen=Screen(width=800, height=600))


def local_provider(folder: Path) -> Provider:
    """The real one, if this machine can run it."""
    from worker.providers.local import LocalProvider

    provider = LocalProvider(Settings(data=folder))
    offer = provider.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    return provider


@pytest.fixture(scope="module", params=["fake", pytest.param("local", marks=pytest.mark.desktop)])
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, the fake one included."""
    made: Provider = FakeProvider() if request.param == "fake" else local_provider(tmp_path_factory.mktemp("local"))
    yield made
    made.close()


@pytest.fixture
def opened(provider: Provider) -> Iterator[OpenDesktop]:
    """A desktop of the test's own."""
    made = provider.open(0, SPEC)
    yield made
    made.close()


@pytest.fixture(scope="module")
def shared(provider: Provider) -> Iterator[OpenDesktop]:
    """One desktop for all tests of a module that leave it usable."""
    made = provider.open(1, SPEC)
    yield made
    made.close()
