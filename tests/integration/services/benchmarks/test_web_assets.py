"""Files of the web: a worker gets their hashes, and collection leaves their bytes alone."""

from datetime import timedelta

from backend.services.artifacts import artifacts
from backend.services.benchmarks import web_assets
from backend.services.benchmarks.web_assets import AssetState, FetchedFile
from tests.factories.downloads import downloading
from tests.factories.records import World
from tests.factories.tasks import make_benchmark

THERE, MISSING = "https://files.example/there.xlsx", "https://files.example/missing.xlsx"


def filled(world: World) -> str:
    """A benchmark that needs two files, one of them stored; the hash of the stored one."""
    world.benchmark(make_benchmark(downloading("one", THERE, MISSING)))
    sha256 = world.store.put(b"table", "application/zip")
    world.do(web_assets.record, "starter", THERE, FetchedFile(sha256, 5, "application/zip", THERE))
    return sha256


class TestClaim:
    def test_a_worker_gets_what_is_there(self, installation: World) -> None:
        sha256 = filled(installation)
        worker = installation.worker()
        installation.submit()
        claim = installation.must_claim(worker)
        assert dict(claim.assets) == {THERE: sha256}
        assert claim.benchmark == "starter"


class TestGarbage:
    def test_the_bytes_of_an_asset_are_used(self, installation: World) -> None:
        filled(installation)
        assert installation.do(artifacts.collect_garbage, installation.store, timedelta(0)) == 0
        assert installation.store.blobs

    def test_bytes_that_were_replaced_are_not(self, installation: World) -> None:
        filled(installation)
        installation.do(web_assets.add, "starter", THERE, b"other", installation.store)
        assert installation.do(artifacts.collect_garbage, installation.store, timedelta(0)) == 1
        assert list(installation.store.blobs.values()) == [b"other"]


class TestVersions:
    def test_new_version_reuses_fetched_files(self, installation: World) -> None:
        filled(installation)
        installation.benchmark(make_benchmark(downloading("two", THERE)))
        found = installation.do(web_assets.list_assets, "starter")
        assert [(one.url, one.tasks, one.state) for one in found] == [(THERE, ["files/two"], AssetState.STORED)]
