"""The real proxy of docker-compose.yml: which requests it may send to a second server."""

import re
import socket
import struct
import subprocess
import urllib.error
import urllib.request
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from threading import Thread

import pytest

from tests.waiting import until
from tools.rolling_restart.site import NGINX, free_port

CONF = Path(__file__).resolve().parents[4] / "deploy" / "compose" / "nginx.conf"
ADDRESSES = ("127.0.0.2", "127.0.0.3")
BODY = b"what is to be done"
MOST = 60
"""Requests until the one server has been asked: by chance it is asked first every second time."""

pytestmark = [
    pytest.mark.timeout(120),
    pytest.mark.skipif(NGINX is None, reason="needs nginx, which `make test` installs where it may"),
]


class CountingApi(ThreadingHTTPServer):
    """Handles requests; or crashes before the answer, or refuses like a server that shuts down."""

    daemon_threads = True

    def __init__(self, address: str, port: int) -> None:
        super().__init__((address, port), CountingApiHandler)
        self.mode, self.asked, self.done = "answer", 0, 0


class CountingApiHandler(BaseHTTPRequestHandler):
    server: CountingApi

    def do_POST(self) -> None:
        api = self.server
        api.asked += 1
        whole = self.rfile.read(int(self.headers.get("Content-Length", 0))) == (BODY if self.command == "POST" else b"")
        refuses = api.mode == "refuse" and "Deskarena-Elsewhere" in self.headers
        api.done += whole and not refuses
        if api.mode == "crash":
            self.close_connection = True
            return
        self.send_response(429 if refuses else 200)
        self.send_header("Content-Length", "0")
        self.end_headers()

    do_GET = do_POST  # noqa: N815 - http.server's name

    def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - http.server's name
        """Says nothing."""


def answer(query: bytes) -> bytes:
    """The answer of Docker's resolver for the name `api`: an address for each server."""
    head = query[:2] + struct.pack(">HHHHH", 0x8180, 1, len(ADDRESSES), 0, 0)
    end = query.index(b"\0", 12) + 5
    records = (b"\xc0\x0c" + struct.pack(">HHIH", 1, 1, 1, 4) + socket.inet_aton(each) for each in ADDRESSES)
    return head + query[12:end] + b"".join(records)


@contextmanager
def resolver() -> Iterator[int]:
    """A stand-in for Docker's resolver; its port."""

    def serve(port: socket.socket) -> None:
        while True:
            query, asker = port.recvfrom(512)
            if not query:
                return
            port.sendto(answer(query), asker)

    with socket.socket(socket.AF_INET, socket.SOCK_DGRAM) as port:
        port.bind(("127.0.0.1", 0))
        thread = Thread(target=serve, args=(port,))
        thread.start()
        yield port.getsockname()[1]
        port.sendto(b"", port.getsockname())
        thread.join()


@contextmanager
def proxy(folder: Path, names: int, api: int) -> Iterator[int]:
    """The product's file; only the addresses and the folder for what passes are of this machine. Its port."""
    port = free_port()
    text = CONF.read_text().replace("resolver 127.0.0.11 ", f"resolver 127.0.0.1:{names} ")
    text = text.replace("listen 8080;", f"listen 127.0.0.1:{port};").replace("$api:8000", f"$api:{api}")
    file = folder / "nginx.conf"
    file.write_text(re.sub(r" /tmp/", f" {folder}/", text))
    command = [str(NGINX), "-p", f"{folder}/", "-c", str(file), "-g", "daemon off;"]
    subprocess.run([*command, "-t"], check=True, capture_output=True)
    with (folder / "log").open("wb") as log, subprocess.Popen(command, stdout=log, stderr=log) as process:
        try:
            until(lambda: ask(port) == 200, what="the proxy answers")
            yield port
        finally:
            process.terminate()


@pytest.fixture
def site(tmp_path: Path) -> Iterator[tuple[int, CountingApi, CountingApi]]:
    """The proxy's port, and both servers."""
    with ExitStack() as stack:
        first = stack.enter_context(CountingApi(ADDRESSES[0], 0))
        second = stack.enter_context(CountingApi(ADDRESSES[1], first.server_port))
        for api in (first, second):
            Thread(target=api.serve_forever, args=(0.05,), daemon=True).start()
            stack.callback(api.shutdown)
        port = stack.enter_context(proxy(tmp_path, stack.enter_context(resolver()), first.server_port))
        for api in (first, second):
            api.asked = api.done = 0
        yield port, first, second


def ask(port: int, body: bytes | None = None) -> int:
    """The status; 0 where nobody listens."""
    try:
        with urllib.request.urlopen(f"http://127.0.0.1:{port}/", body, timeout=30) as reply:
            return int(reply.status)
    except urllib.error.HTTPError as error:
        with error:
            return error.code
    except OSError:
        return 0


def ask_until_asked(api: CountingApi, port: int, body: bytes | None) -> list[int]:
    """Asks until that server was among those asked; every status."""
    found: list[int] = []
    while not api.asked and len(found) < MOST:
        found.append(ask(port, body))
    assert api.asked
    return found


class TestProxyOfCompose:
    def test_a_post_is_never_sent_again_after_a_crash(self, site: tuple[int, CountingApi, CountingApi]) -> None:
        port, first, second = site
        first.mode = "crash"
        found = ask_until_asked(first, port, BODY)
        assert found[-1] == 502
        assert first.done + second.done == len(found)

    def test_idempotent_requests_are_repeated_elsewhere_after_a_crash(
        self, site: tuple[int, CountingApi, CountingApi]
    ) -> None:
        port, first, _ = site
        first.mode = "crash"
        assert set(ask_until_asked(first, port, None)) == {200}

    @pytest.mark.parametrize("body", [BODY, None])
    def test_requests_refused_by_a_stopping_server_are_done_once_elsewhere(
        self, site: tuple[int, CountingApi, CountingApi], body: bytes | None
    ) -> None:
        port, first, second = site
        first.mode = "refuse"
        found = ask_until_asked(first, port, body)
        assert set(found) == {200}
        assert (first.done, second.done) == (0, len(found))

    def test_refusal_of_all_servers_is_429(self, site: tuple[int, CountingApi, CountingApi]) -> None:
        port, first, second = site
        first.mode = second.mode = "refuse"
        assert ask(port, BODY) == 429
        assert first.done + second.done == 0

    def test_unaccepted_post_goes_to_the_other_server(self, site: tuple[int, CountingApi, CountingApi]) -> None:
        port, first, second = site
        first.shutdown()
        first.server_close()
        assert [ask(port, BODY) for _ in range(10)] == [200] * 10
        assert second.done == 10
