from collections.abc import Iterator

import pytest
from playwright.sync_api import Browser, sync_playwright
from redis import Redis

from backend.services import events
from tests.e2e.chromium import CHROMIUM, FLAGS
from tests.factories.scene import PageScene
from tests.factories.scene_copies import copied_scene
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
    with Redis.from_url(redis_url) as broker:
        broker.flushdb()  # Copies of the scene have the same attempts, and so the same pictures.
    events.configure(redis_url)
    with copied_scene(postgres_server) as page_scene:
        yield page_scene
    events.configure("")


@pytest.fixture(scope="module")
def site(scene: PageScene, tmp_path_factory: pytest.TempPathFactory) -> Iterator[str]:
    """The service of the scene."""
    with served(scene.world, tmp_path_factory.mktemp("data")) as address:
        yield address
