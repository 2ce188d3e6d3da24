from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright

from backend.services import events
from tests import databases
from tests.e2e.chromium import CHROMIUM, FLAGS
from tests.factories.records import world
from tests.factories.scene import PageScene, make_scene
from tests.factories.site import served


@pytest.fixture(scope="module")
def browser() -> Iterator[Browser]:
    if not CHROMIUM.exists():
        pytest.skip("needs Debian's chromium (make setup installs it)")
    with sync_playwright() as playwright:
        started = playwright.chromium.launch(executable_path=str(CHROMIUM), args=FLAGS)
        yield started
        started.close()


@pytest.fixture(scope="module")
def scene(postgres_server: str, redis_url: str) -> Iterator[PageScene]:
    """A realistic installation, with a broker."""
    events.configure(redis_url)
    with databases.copied(postgres_server) as url, world(url) as made:
        yield make_scene(made)
    events.configure("")


@pytest.fixture(scope="module")
def site(scene: PageScene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The service of the scene."""
    with served(scene.world, tmp_path_factory.mktemp("data")) as address:
        yield address
