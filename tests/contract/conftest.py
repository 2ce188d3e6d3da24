"""Implementations of the ports that every contract suite runs against."""

from collections.abc import Callable, Iterator, Mapping
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


REAL: Mapping[str, Callable[[Path], Provider]] = {"local": local_provider}
"""Providers that make real machines, by name; each skips, and says why, where it cannot work."""
REAL_PROVIDERS = [pytest.param(name, marks=pytest.mark.desktop) for name in REAL]


def made_provider(name: str, folders: pytest.TempPathFactory) -> Provider:
    """The provider of that name, or the fake one."""
    return REAL[name](folders.mktemp(name)) if name in REAL else FakeProvider()


@pytest.fixture(scope="module", params=["fake", *REAL_PROVIDERS])
def provider(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Provider]:
    """Every provider that can work here, the fake one included."""
    made = made_provider(request.param, tmp_path_factory)
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
