"""A desktop's only way out, tried from inside a real one."""

import json
from collections.abc import Iterator
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.errors import NotFound
from backend.domain.ports import DesktopSpec, OpenDesktop
from backend.domain.run import Screen
from backend.domain.way_out import WayOut
from backend.services.addresses import Reach
from tests.fakes.origin import Origin, origin, reply
from tests.waiting import until
from worker.egress import Gateways
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
PAGE = b"<html><head><title>Stored page</title></head><body>ours</body></html>"
STORE = {"1" * 64: b"stored", "2" * 64: PAGE}
FILES = {"https://files.example/a.txt": "1" * 64, "http://shop.example/": "2" * 64}
ASK = """
import json, sys, urllib.error, urllib.request
found = {}
for url in json.loads(sys.argv[1]):
    try:
        with urllib.request.urlopen(url, timeout=10) as answer:
            found[url] = answer.read().decode()
    except urllib.error.HTTPError as error:
        found[url] = f"{error.code} {error.read().decode()}"
    except OSError as error:
        found[url] = str(error)
print(json.dumps(found))
"""


def fetch(sha256: str) -> bytes:
    if sha256 not in STORE:
        raise NotFound("it is not in the store")
    return STORE[sha256]


@pytest.fixture(scope="module")
def provider(tmp_path_factory: pytest.TempPathFactory) -> Iterator[LocalProvider]:
    """A provider for which every name is this machine, which may be reached where the allow-list says so."""
    made = LocalProvider(Settings(data=tmp_path_factory.mktemp("egress")))
    offer = made.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    made._gateways = Gateways(reach=Reach(private_hosts=("here.example",)), resolver=lambda *_: ["127.0.0.1"])
    yield made
    made.close()


@pytest.fixture(scope="module")
def opened(provider: LocalProvider) -> Iterator[OpenDesktop]:
    made = provider.open(0, DesktopSpec(screen=Screen(width=800, height=600)))
    yield made
    made.close()


@pytest.fixture(scope="module")
def site() -> Iterator[Origin]:
    with origin() as found:
        found.pages["/x"] = reply(b"from the network")
        yield found


def ask(opened: OpenDesktop, *urls: str) -> dict[str, str]:
    """What programs of the desktop get, by its environment alone."""
    done = opened.desktop.execute(["python3", "-c", ASK, json.dumps(urls)])
    assert done.returncode == 0, done
    found: dict[str, str] = json.loads(done.output)
    return found


class TestWayOut:
    def test_nothing_before_the_attempt_begins(self, opened: OpenDesktop) -> None:
        opened.let_out(WayOut(), fetch)
        assert ask(opened, "http://shop.example/")["http://shop.example/"].startswith("403 this desktop may not reach")

    def test_stored_files_without_any_network(self, opened: OpenDesktop) -> None:
        opened.let_out(WayOut(files=FILES), fetch)
        found = ask(opened, "http://files.example/a.txt", "http://files.example/b.txt", "https://files.example/a.txt")
        assert found["http://files.example/a.txt"] == "stored"
        assert found["http://files.example/b.txt"].startswith("403")
        assert "403" in found["https://files.example/a.txt"]

    def test_an_allowed_host_and_no_other(self, opened: OpenDesktop, site: Origin) -> None:
        opened.let_out(WayOut(hosts=(f"here.example:{site.port}", f"*:{site.port}")), fetch)
        good, bad = f"http://here.example:{site.port}/x", f"http://elsewhere.example:{site.port}/x"
        found = ask(opened, good, bad)
        assert found[good] == "from the network"
        assert "not an address of the public network" in found[bad]
        assert [path for _, path, _, _ in site.asked] == ["/x"]

    def test_its_own_loopback_is_asked_directly(self, opened: OpenDesktop) -> None:
        opened.let_out(WayOut(), fetch)
        assert "refused" in ask(opened, "http://127.0.0.1:4444/")["http://127.0.0.1:4444/"].lower()

    def test_the_browser_goes_the_same_way(self, opened: OpenDesktop) -> None:
        opened.let_out(WayOut(files=FILES), fetch)
        if opened.desktop.execute(["sh", "-c", "command -v chromium"]).returncode:
            pytest.skip("needs Chromium: make setup APPS=full")
        opened.desktop.launch(["google-chrome", "http://shop.example/"])
        until(lambda: any("Stored page" in window.title for window in opened.desktop.windows()), 60)

    def test_the_folder_with_the_socket_cannot_be_changed(self, opened: OpenDesktop) -> None:
        tries = ("rm /run/egress/gateway", "touch /run/egress/x", "mv /run/egress /run/other", "chmod 777 /run/egress")
        for line in tries:
            assert opened.desktop.execute(["sh", "-c", line]).returncode != 0, line

    def test_closing_leaves_nothing(self, provider: LocalProvider) -> None:
        made = provider.open(1, DesktopSpec(screen=Screen(width=640, height=480)))
        path = Path(made.stream_address()[0].removeprefix("unix:")).parent
        assert (path / "out" / "gateway").is_socket()
        made.close()
        assert not path.exists()
