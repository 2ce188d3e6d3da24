"""Fixtures and rules that all tests share."""

import random
from pathlib import Path

import pytest

from tests.sampling import runs_everything, seed

ROOT = Path(__file__).resolve().parent.parent


def pytest_report_header() -> str:
    """Tells how to repeat this run's samples."""
    scope = "everything (make test-all)" if runs_everything() else "without tests marked long"
    return f"seed: {seed()} (repeat with make test SEED={seed()}), {scope}"


def pytest_collection_modifyitems(config: pytest.Config, items: list[pytest.Item]) -> None:
    """Leaves the tests marked `long` to `make test-all`, and says so by counting them as deselected."""
    if runs_everything():
        return
    long = [item for item in items if item.get_closest_marker("long")]
    items[:] = [item for item in items if not item.get_closest_marker("long")]
    config.hook.pytest_deselected(items=long)


@pytest.fixture(autouse=True)
def _seeded() -> None:
    """Every test starts from the run's seed, whatever ran before it."""
    random.seed(seed())


@pytest.fixture(scope="session")
def shared_dir() -> Path:
    """The folder of published benchmark files beside the checkout."""
    folder = ROOT.parent / "shared"
    if not (folder / "benchmarks").is_dir():
        pytest.skip(f"needs {folder.parent.name}/shared/benchmarks: the published benchmark files, beside the checkout")
    return folder
