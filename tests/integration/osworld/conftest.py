"""One provider of real desktops for all tasks."""

from collections.abc import Iterator

import pytest

from backend.config import Settings
from worker.providers.local import LocalProvider


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProvider]:
    """Real local desktops with LibreOffice, if this machine can make them."""
    local_provider = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("osworld")))
    offer = local_provider.availability()
    if not offer.ok or "soffice" not in offer.programs:
        local_provider.close()
        pytest.skip(f"needs local desktops with LibreOffice: {offer.reason or 'make setup APPS=full'}")
    yield local_provider
    local_provider.close()
