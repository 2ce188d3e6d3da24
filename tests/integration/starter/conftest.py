"""One provider of real desktops for all tasks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.starter.harness import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Real local desktops, if this machine can make them."""
    made = Bench(tmp_path_factory.mktemp("starter"))
    try:
        offer = made.provider.availability()
        if not offer.ok:
            pytest.skip(f"needs local desktops: {offer.reason}")
        yield made
    finally:
        made.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an evaluation may write."""
    path = tmp_path / "evidence"
    path.mkdir()
    return path
