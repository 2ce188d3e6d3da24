"""One provider of real desktops for all tasks."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.integration.starter.harness import Bench


@pytest.fixture(scope="session")
def bench(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Real local desktops, if this machine can make them."""
    starter_bench = Bench(tmp_path_factory.mktemp("starter"))
    try:
        offer = starter_bench.provider.availability()
        if not offer.ok:
            pytest.skip(f"needs local desktops: {offer.reason}")
        yield starter_bench
    finally:
        starter_bench.close()


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    """Where an evaluation may write."""
    path = tmp_path / "evidence"
    path.mkdir()
    return path
