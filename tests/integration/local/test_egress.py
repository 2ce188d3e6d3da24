"""A desktop's only way out, tried from inside a real one."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import SimpleHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import pytest

from backend.config import Settings
from backend.domain.errors import NotFound
from backend.domain.machines.egress_rules import EgressRules, way_out_of
from backend.domain.machines.slots import SlotRef
from backend.domain.model.run import ScreenSize
from backend.domain.ports.desktop import DesktopSpec, OpenDesktop
from backend.services.artifacts.egress_policy import EgressPolicy
from tests.factories.suites import SAMPLES, read
from tests.fakes.origin_server import OriginServer, origin, reply
from tests.waiting import until
from worker.egress import Gateways
from worker.egress.certificate_authority import CertificateAuthority
from worker.providers.local import LocalProvider

pytestmark = pytest.mark.desktop
PAGE = b"<html><head><title>Stored page</title></head><body>ours</body></html>"
STORE = {"1" * 64: b"stored", "2" * 64: PAGE}
FILES = {"https://files.example/a.txt": "1" * 64, "http://shop.example/": "2" * 64}
SAFE = b"<!doctype html><title>Mocked bank</title><p>ours"
STORE["3" * 64] = SAFE
MOCKED = EgressRules(files={"https://bank.example/": "3" * 64}, mocked=("bank.example:443",))
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
    gateways = Gateways(reach=EgressPolicy(private_hosts=("here.example",)), resolver=lambda *_: ["127.0.0.1"])
    made = LocalProvider(Settings(data_dir=tmp_path_factory.mktemp("egress")), gateways=gateways)
    offer = made.availability()
    if not offer.ok:
        pytest.skip(f"needs local desktops: {offer.reason}")
    yield made
    made.close()


@pytest.fixture(scope="module")
def opened(provider: LocalProvider) -> Iterator[OpenDesktop]:
    made = provider.open(SlotRef(0), DesktopSpec(screen=ScreenSize(width=800, height=600)))
    yield made
    made.close()


@pytest.fixture(scope="module")
def site() -> Iterator[OriginServer]:
    with origin() as found:
        found.pages["/x"] = reply(b"from the network")
        yield found


@contextmanager
def secure_site(host: str) -> Iterator[int]:
    """The port of an https server with a certificate that no desktop trusts."""
    context = CertificateAuthority([host]).context(host)
    with ThreadingHTTPServer(("127.0.0.1", 0), SimpleHTTPRequestHandler) as server:
        server.socket = context.wrap_socket(server.socket, server_side=True)
        thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
        thread.start()
        yield server.server_address[1]
        server.shutdown()
        thread.join()


def ask(opened: OpenDesktop, *urls: str) -> dict[str, str]:
    """The network of a desktop's programs, by their environment alone."""
    done = opened.desktop.execute(["python3", "-c", ASK, json.dumps(urls)])
    assert done.returncode == 0, done
    found: dict[str, str] = json.loads(done.output)
    return found


class TestWayOut:
    def test_nothing_is_reachable_before_the_attempt(self, opened: OpenDesktop) -> None:
        opened.let_out(EgressRules(), fetch)
        assert ask(opened, "http://shop.example/")["http://shop.example/"].startswith("403 this desktop may not reach")

    def test_stored_files_without_any_network(self, opened: OpenDesktop) -> None:
        opened.let_out(EgressRules(files=FILES), fetch)
        found = ask(opened, "http://files.example/a.txt", "http://files.example/b.txt", "https://files.example/a.txt")
        assert found["http://files.example/a.txt"] == "stored"
        assert found["http://files.example/b.txt"].startswith("403")
        assert "403" in found["https://files.example/a.txt"]

    def test_only_allowed_hosts_are_reachable(self, opened: OpenDesktop, site: OriginServer) -> None:
        opened.let_out(EgressRules(hosts=(f"here.example:{site.port}", f"*:{site.port}")), fetch)
        good, bad = f"http://here.example:{site.port}/x", f"http://elsewhere.example:{site.port}/x"
        found = ask(opened, good, bad)
        assert found[good] == "from the network"
        assert "not on the public network" in found[bad]
        assert [path for _, path, _, _ in site.asked] == ["/x"]

    def test_loopback_bypasses_the_proxy(self, opened: OpenDesktop) -> None:
        opened.let_out(EgressRules(), fetch)
        assert "refused" in ask(opened, "http://127.0.0.1:4444/")["http://127.0.0.1:4444/"].lower()

    def test_the_browser_goes_the_same_way(self, opened: OpenDesktop) -> None:
        opened.let_out(EgressRules(files=FILES), fetch)
        if opened.desktop.execute(["sh", "-c", "command -v chromium"]).returncode:
            pytest.skip("needs Chromium: make setup APPS=full")
        opened.desktop.launch(["google-chrome", "http://shop.example/"])
        until(lambda: any("Stored page" in window.title for window in opened.desktop.windows()), 60)

    def test_a_mocked_https_host(self, opened: OpenDesktop) -> None:
        opened.let_out(MOCKED, fetch)
        found = ask(opened, "https://bank.example/", "https://bank.example/other", "https://elsewhere.example/")
        assert found["https://bank.example/"] == SAFE.decode()
        assert found["https://bank.example/other"].startswith("403 bank.example is mocked")
        assert "403" in found["https://elsewhere.example/"]
        for line in ("curl -sS https://bank.example/", "wget -qO- https://bank.example/"):
            done = opened.desktop.execute(["sh", "-c", f"command -v {line.split()[0]} >&2 || exit 90; {line}"])
            assert done.returncode == 90 or done.output == SAFE.decode(), done

    def test_mocked_hosts_of_an_imported_task_are_served(self, opened: OpenDesktop) -> None:
        loaded = read("windowsworld", SAMPLES / "windowsworld")
        task = next(one for one in loaded.tasks if one.key.name == "win_art__l3_003")
        assets = {name: name for name in loaded.assets}
        opened.let_out(way_out_of(task, assets, egress="none", hosts=(), proxy=""), loaded.assets.__getitem__)
        found = ask(opened, "https://museum.example/hours", "https://museum.example/elsewhere")
        assert "stands in for https://museum.example/hours" in found["https://museum.example/hours"]
        assert found["https://museum.example/elsewhere"].startswith("403")

    def test_the_browser_opens_it_without_a_warning_and_warns_of_others(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(2), DesktopSpec(screen=ScreenSize(width=800, height=600)))
        if made.desktop.execute(["sh", "-c", "command -v chromium"]).returncode:
            pytest.skip("needs Chromium: make setup APPS=full")

        def shows(title: str) -> bool:
            return any(title in window.title for window in made.desktop.windows())

        with secure_site("here.example") as port:
            made.let_out(MOCKED.model_copy(update={"hosts": (f"here.example:{port}",)}), fetch)
            made.desktop.launch(["google-chrome", "https://bank.example/"])
            until(lambda: shows("Mocked bank"), 60)
            made.desktop.launch(["google-chrome", f"https://here.example:{port}/"])
            until(lambda: shows("Privacy error"), 60)
        made.close()

    def test_only_desktops_with_mocks_trust_an_authority_of_ours(self, opened: OpenDesktop) -> None:
        host = Path("/etc/ssl/certs/ca-certificates.crt").read_bytes()
        opened.let_out(MOCKED, fetch)
        trusted = opened.desktop.read_file("/etc/ssl/certs/ca-certificates.crt")
        assert trusted.startswith(host)
        assert trusted.count(b"BEGIN CERTIFICATE") == host.count(b"BEGIN CERTIFICATE") + 1
        assert opened.desktop.execute(["ls", "/etc/chromium/policies/managed"]).returncode == 0
        opened.let_out(EgressRules(), fetch)
        assert opened.desktop.read_file("/etc/ssl/certs/ca-certificates.crt") == host
        assert opened.desktop.execute(["ls", "/etc/chromium/policies/managed"]).returncode != 0
        assert Path("/etc/ssl/certs/ca-certificates.crt").read_bytes() == host

    def test_a_desktop_cannot_change_whom_it_trusts(self, opened: OpenDesktop) -> None:
        opened.let_out(MOCKED, fetch)
        for line in (
            "echo x >> /etc/ssl/certs/ca-certificates.crt",
            "rm /etc/ssl/certs/ca-certificates.crt",
            "echo x > /run/egress/ca-certificates.crt",
            "touch /etc/chromium/policies/managed/more.json",
            "rm -r /run/egress/policies",
        ):
            assert opened.desktop.execute(["sh", "-c", line]).returncode != 0, line
        # Its key is nowhere in the desktop.
        assert opened.desktop.execute(["grep", "-rl", "PRIVATE KEY", "/run/egress", "/etc/chromium"]).output == ""

    def test_the_folder_with_the_socket_cannot_be_changed(self, opened: OpenDesktop) -> None:
        tries = ("rm /run/egress/gateway", "touch /run/egress/x", "mv /run/egress /run/other", "chmod 777 /run/egress")
        for line in tries:
            assert opened.desktop.execute(["sh", "-c", line]).returncode != 0, line

    def test_closing_leaves_nothing(self, provider: LocalProvider) -> None:
        made = provider.open(SlotRef(1), DesktopSpec(screen=ScreenSize(width=640, height=480)))
        path = Path(made.stream_address()[0].removeprefix("unix:")).parent
        assert (path / "out" / "gateway").is_socket()
        made.close()
        assert not path.exists()
