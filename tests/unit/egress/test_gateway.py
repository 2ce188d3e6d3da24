import socket
import ssl
import tempfile
import threading
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

import pytest

from backend.domain.errors import NotFound
from backend.domain.machines.egress_rules import EgressRules
from backend.services.artifacts.egress_policy import EgressPolicy
from tests.fakes.origin_server import OriginServer, origin, reply
from tests.waiting import until
from worker.egress import Gateway, Gateways
from worker.egress.certificate_authority import CertificateAuthority
from worker.egress.gateway import MOST_CONNECTIONS

STORE = {"1" * 64: b"stored"}
ANSWER = "HTTP/1.1 200 OK\r\nContent-Type: {}\r\nConnection: close\r\nContent-Length: 6\r\n\r\n{}"


def fetch(sha256: str) -> bytes:
    if sha256 not in STORE:
        raise NotFound("it is not in the store")
    return STORE[sha256]


class Way:
    """A gateway, and what a program of the desktop says to it."""

    def __init__(self, gateways: Gateways, folder: Path) -> None:
        self.path = folder / "gateway"
        self.gateway: Gateway = gateways.open(self.path)

    def connect(self) -> socket.socket:
        result = socket.socket(socket.AF_UNIX)
        result.settimeout(10)
        result.connect(str(self.path))
        return result

    def ask(self, text: str) -> str:
        """Everything that comes back."""
        with self.connect() as way:
            way.sendall(text.encode())
            return "".join(iter(lambda: way.recv(65536).decode(), ""))

    def get(self, url: str) -> str:
        return self.ask(f"GET {url} HTTP/1.1\r\nHost: x\r\n\r\n")

    def allow(self, *hosts: str, **more: object) -> None:
        self.gateway.allow(EgressRules.model_validate({"hosts": hosts, **more}), fetch)


@pytest.fixture
def folder() -> Iterator[Path]:
    """A short path: a socket's may have 108 characters."""
    with tempfile.TemporaryDirectory() as name:
        yield Path(name)


@pytest.fixture(params=[False])
def way(request: pytest.FixtureRequest, folder: Path) -> Iterator[Way]:
    """A gateway for which every name is this machine; parameter True: which may be reached."""
    before = set(threading.enumerate())  # Of other tests of this process.
    gateways = Gateways(reach=EgressPolicy(allow_private=request.param), resolver=lambda *_: ["127.0.0.1"])
    result = Way(gateways, folder)
    yield result
    result.gateway.close()
    gateways.close()
    assert not result.path.exists()
    assert "egress" not in {thread.name for thread in set(threading.enumerate()) - before}


@pytest.fixture
def site() -> Iterator[OriginServer]:
    with origin() as result:
        yield result


def is_closed(client: socket.socket) -> bool:
    """Waits until the other end has closed the connection, whatever it says before."""
    try:
        while client.recv(65536):
            continue
    except ConnectionResetError:
        return True
    return True


REACHES_HERE = pytest.mark.parametrize("way", [True], indirect=True)


class TestNothing:
    def test_nothing_passes_before_rules_are_set(self, way: Way, site: OriginServer) -> None:
        assert way.get("http://a.example/").startswith("HTTP/1.1 403 Forbidden")
        assert way.ask("CONNECT a.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")
        assert way.gateway.refused == 2
        assert site.asked == []

    def test_host_addresses_are_never_reachable(self, way: Way, site: OriginServer) -> None:
        way.allow("*", f"*:{site.port}")
        for host in ("a.example", "127.0.0.1", "localhost"):
            answer = way.get(f"http://{host}:{site.port}/")
            assert answer.startswith("HTTP/1.1 403"), host
            assert "not on the public network" in answer
            assert way.ask(f"CONNECT {host}:{site.port} HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")
        assert site.asked == []

    @pytest.mark.parametrize("port", [22, 25, 5432, 6379, 8000])
    def test_on_other_ports_than_the_webs(self, way: Way, port: int) -> None:
        way.allow("*")
        assert f"may not reach a.example:{port}" in way.ask(f"CONNECT a.example:{port} HTTP/1.1\r\n\r\n")


class TestStored:
    FILES = {"https://files.example/a%20b.txt": "1" * 64, "https://files.example/lost": "2" * 64}  # noqa: RUF012

    def test_a_file_is_answered_without_any_network(self, way: Way) -> None:
        way.allow(files=self.FILES)
        assert way.get("http://files.example/a%20b.txt") == ANSWER.format("text/plain", "stored")
        # A client may ask its proxy for an https address openly; the guest server does.
        assert way.get("https://files.example/a%20b.txt").endswith("stored")

    def test_head_of_a_stored_file(self, way: Way) -> None:
        way.allow(files=self.FILES)
        assert way.ask("HEAD http://files.example/a%20b.txt HTTP/1.1\r\n\r\n") == ANSWER.format("text/plain", "")

    def test_missing_stored_file_is_503(self, way: Way) -> None:
        way.allow(files=self.FILES)
        assert way.get("http://files.example/lost").startswith("HTTP/1.1 503")

    def test_other_files_of_the_host_are_refused(self, way: Way) -> None:
        way.allow(files=self.FILES)
        assert way.get("https://files.example/gold.txt").startswith("HTTP/1.1 403")


@REACHES_HERE
class TestForward:
    def test_allowed_page_is_forwarded(self, way: Way, site: OriginServer) -> None:
        way.allow(f"a.example:{site.port}")
        site.pages["/x?y=1"] = reply(b"page")
        assert way.get(f"http://a.example:{site.port}/x?y=1").endswith("\r\n\r\npage")
        assert site.asked[0][2]["host"] == f"a.example:{site.port}"

    def test_posted_form_is_forwarded(self, way: Way, site: OriginServer) -> None:
        way.allow(f"a.example:{site.port}")
        way.ask(f"POST http://a.example:{site.port}/x HTTP/1.1\r\nContent-Length: 3\r\n\r\na=1GET /y HTTP/1.1\r\n\r\n")
        assert [(method, path, body) for method, path, _, body in site.asked] == [("POST", "/x", b"a=1")]

    def test_a_host_that_does_not_answer(self, way: Way) -> None:
        way.allow("a.example:9")
        assert way.get("http://a.example:9/").startswith("HTTP/1.1 502")

    def test_connect_opens_a_tunnel(self, way: Way, site: OriginServer) -> None:
        way.allow(f"a.example:{site.port}")
        site.pages["/x"] = reply(b"page")
        with way.connect() as client:
            client.sendall(f"CONNECT a.example:{site.port} HTTP/1.1\r\n\r\n".encode())
            assert client.recv(100) == b"HTTP/1.1 200 Connection established\r\n\r\n"
            client.sendall(b"GET /x HTTP/1.1\r\nHost: a.example\r\nConnection: close\r\n\r\n")
            assert b"".join(iter(lambda: client.recv(65536), b"")).endswith(b"page")


@REACHES_HERE
class TestProxy:
    def test_a_plain_request_goes_there_whole(self, way: Way, site: OriginServer) -> None:
        way.allow("a.example", proxy=f"http://user:p%40ss@127.0.0.1:{site.port}")
        site.pages["http://a.example/x"] = reply(b"page")
        assert way.get("http://a.example/x").endswith("page")
        assert site.asked[0][2]["proxy-authorization"] == "Basic dXNlcjpwQHNz"

    @pytest.mark.parametrize(
        "host", ["127.0.0.1", "10.0.0.1", "[::1]", "localhost", "127.1", "db.internal", "0x7f000001"]
    )
    def test_private_addresses_are_refused_before_the_proxy_is_asked(
        self, way: Way, site: OriginServer, host: str
    ) -> None:
        way.allow("*", "::1", proxy=f"http://127.0.0.1:{site.port}")
        assert way.get(f"http://{host}/").startswith("HTTP/1.1 403")
        assert way.ask(f"CONNECT {host}:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 403")
        assert site.asked == []

    def test_a_tunnel_that_the_proxy_refuses(self, way: Way, site: OriginServer) -> None:
        way.allow("a.example", proxy=f"http://127.0.0.1:{site.port}")
        assert way.ask("CONNECT a.example:443 HTTP/1.1\r\n\r\n").startswith("HTTP/1.1 502")

    def test_tunnel_goes_through_the_configured_proxy(self, way: Way) -> None:
        with socket.create_server(("127.0.0.1", 0)) as proxy:
            way.allow("a.example", proxy=f"http://127.0.0.1:{proxy.getsockname()[1]}")
            with way.connect() as client:
                client.sendall(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
                server, _ = proxy.accept()
                with server:
                    assert server.recv(1000).startswith(b"CONNECT a.example:443 HTTP/1.1\r\nHost: a.example:443\r\n")
                    server.sendall(b"HTTP/1.1 200 OK\r\n\r\n")
                    assert client.recv(100).startswith(b"HTTP/1.1 200")
                    client.sendall(b"ping")
                    assert server.recv(10) == b"ping"

    def test_unreachable_proxy_is_502(self, way: Way) -> None:
        way.allow("a.example", proxy="http://127.0.0.1:9")
        assert way.get("http://a.example/").startswith("HTTP/1.1 502")


class TestHostile:
    @pytest.mark.parametrize("text", ["\r\n\r\n", "GET / HTTP/1.1\r\n\r\n", "x" * 1000 + "\r\n\r\n"])
    def test_malformed_requests_get_400(self, way: Way, text: str) -> None:
        assert way.ask(text).startswith("HTTP/1.1 400")

    def test_an_endless_head(self, way: Way) -> None:
        with way.connect() as client, pytest.raises(OSError):  # noqa: PT011 - whichever end of the connection it meets
            client.sendall(b"x" * 8_000_000)

    def test_excess_connections_are_recovered_from(self, way: Way) -> None:
        many = [way.connect() for _ in range(MOST_CONNECTIONS + 10)]
        assert many[-1].recv(10) == b""
        for client in many:
            client.close()
        way.allow(files=TestStored.FILES)

        def is_served() -> bool:
            try:
                return way.get("http://files.example/a%20b.txt").endswith("stored")
            except ConnectionError:
                return False  # Turned away with the request unread.

        # Its places are free as soon as it has seen the ends.
        until(is_served)

    def test_closing_ends_what_is_open(self, way: Way) -> None:
        way.gateway.allow(EgressRules(files={"https://a.example/": "1" * 64}, mocked=("a.example:443",)), fetch)
        with way.connect() as client:
            client.sendall(b"CONNECT a.example:443 HTTP/1.1\r\n\r\n")
            assert client.recv(100).startswith(b"HTTP/1.1 200")
            way.gateway.close()
            assert client.recv(10) == b""


class TestMocked:
    """An https host that a task mocks: the gateway serves it to clients that trust its authority."""

    FILES = {  # noqa: RUF012
        "https://shop.example/cart?id=1": "1" * 64,
        "https://shop.example:8443/odd": "1" * 64,
        "https://files.example/given": "1" * 64,
    }
    PLACES = ("shop.example:443", "shop.example:8443")

    def mock(self, way: Way, *hosts: str) -> ssl.SSLContext:
        """A client that trusts only the desktop's certificate authorities."""
        told = EgressRules(files=self.FILES, mocked=self.PLACES, hosts=hosts)
        return ssl.create_default_context(cadata=way.gateway.allow(told, fetch).decode())

    def ask(
        self, way: Way, client: ssl.SSLContext, request: str, *, host: str = "shop.example", port: int = 443
    ) -> str:
        """Everything that comes back through a tunnel to that host."""
        with way.connect() as plain:
            plain.sendall(f"CONNECT {host}:{port} HTTP/1.1\r\n\r\n".encode())
            said = plain.recv(100).decode()
            assert said == "HTTP/1.1 200 Connection established\r\n\r\n", said
            with client.wrap_socket(plain, server_hostname=host) as inner:
                inner.sendall(request.encode())
                return b"".join(iter(lambda: inner.recv(65536), b"")).decode()

    def get(self, way: Way, client: ssl.SSLContext, path: str, **more: Any) -> str:
        return self.ask(way, client, f"GET {path} HTTP/1.1\r\nHost: shop.example\r\n\r\n", **more)

    def test_mocked_address_is_served(self, way: Way) -> None:
        client = self.mock(way)
        assert self.get(way, client, "/cart?id=1") == ANSWER.format("application/octet-stream", "stored")
        assert self.get(way, client, "/odd", port=8443).endswith("stored")

    def test_other_addresses_of_a_mocked_host_are_refused(self, way: Way) -> None:
        client = self.mock(way, "*")
        for path in ("/", "/cart?id=2", "/given"):
            answer = self.get(way, client, path)
            assert answer.startswith("HTTP/1.1 403 Forbidden"), path
            assert "shop.example is mocked" in answer
        assert self.ask(way, client, "POST /cart?id=1 HTTP/1.1\r\nContent-Length: 3\r\n\r\na=1").startswith(
            "HTTP/1.1 403"
        )
        assert way.gateway.refused == 4

    @pytest.mark.parametrize(
        "said",
        ["CONNECT other.example:443 HTTP/1.1\r\n\r\n", "GET http://files.example/given HTTP/1.1\r\n\r\n", "x\r\n\r\n"],
    )
    def test_mocked_host_does_not_proxy(self, way: Way, said: str) -> None:
        assert self.ask(way, self.mock(way, "*"), said).startswith("HTTP/1.1 400")

    def test_the_name_is_where_the_tunnel_led_whatever_the_header_says(self, way: Way) -> None:
        client = self.mock(way)
        answer = self.ask(way, client, "GET /given HTTP/1.1\r\nHost: files.example\r\n\r\n")
        assert answer.startswith("HTTP/1.1 403")

    def test_hosts_that_are_not_mocked_are_asked_for_as_before(self, way: Way) -> None:
        self.mock(way)
        for place in ("other.example:443", "files.example:443", "www.shop.example:443", "shop.example:444"):
            assert f"may not reach {place}" in way.ask(f"CONNECT {place} HTTP/1.1\r\n\r\n"), place

    def test_clients_without_the_authority_reject_its_certificate(self, way: Way) -> None:
        self.mock(way)
        with pytest.raises(ssl.SSLCertVerificationError):
            self.get(way, ssl.create_default_context(), "/cart?id=1")

    def test_the_next_task_does_not_inherit_it(self, way: Way) -> None:
        self.mock(way)
        assert way.gateway.allow(EgressRules(files=self.FILES), fetch) == b""
        assert "may not reach shop.example:443" in way.ask("CONNECT shop.example:443 HTTP/1.1\r\n\r\n")

    def test_invalid_client_hello_does_not_affect_others(self, way: Way) -> None:
        client = self.mock(way)
        for said in (b"", b"GET / HTTP/1.1\r\n\r\n", b"\x16\x03\x01" + b"\xff" * 5000):
            with way.connect() as plain:
                plain.sendall(b"CONNECT shop.example:443 HTTP/1.1\r\n\r\n")
                assert plain.recv(100).startswith(b"HTTP/1.1 200")
                plain.sendall(said)
                plain.shutdown(socket.SHUT_WR)
                assert is_closed(plain)
        assert self.get(way, client, "/cart?id=1").endswith("stored")

    @REACHES_HERE
    def test_other_hosts_are_tunneled_unchanged(self, way: Way) -> None:
        """A tunnel carries bytes: what the client sees is the server's certificate, and ours is not in it."""
        real = CertificateAuthority(["real.example"])
        with socket.create_server(("127.0.0.1", 0)) as server, ThreadPoolExecutor() as threads:
            port = server.getsockname()[1]
            ours = self.mock(way, f"real.example:{port}")

            def serve() -> None:
                with server.accept()[0] as plain:
                    try:
                        with real.context("real.example").wrap_socket(plain, server_side=True) as inner:
                            inner.recv(1000)
                            inner.sendall(b"HTTP/1.1 200 OK\r\n\r\nfrom the real one")
                    except ssl.SSLError:
                        return  # The client would not have it.

            for trusted in (ssl.create_default_context(cadata=real.certificate.decode()), ours):
                done = threads.submit(serve)
                if trusted is ours:
                    with pytest.raises(ssl.SSLCertVerificationError):
                        self.get(way, trusted, "/", host="real.example", port=port)
                else:
                    assert self.get(way, trusted, "/", host="real.example", port=port).endswith("from the real one")
                done.result(60)
