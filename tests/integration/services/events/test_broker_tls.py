"""A broker behind TLS gets the password only if its certificate is trusted."""

import socket
import threading
from collections.abc import Callable, Iterator
from contextlib import suppress
from pathlib import Path

import pytest
from celery import Celery
from kombu.exceptions import OperationalError

from backend.services.events import worker_wakeup
from tests.fakes.kubernetes.tls import certificate, server_context
from worker.app import make_app

PASSWORD = "between-us"


class Listener:
    """Speaks TLS with an untrusted certificate and records what it receives; never answers."""

    def __init__(self) -> None:
        self.told = b""
        self._socket = socket.create_server(("127.0.0.1", 0))
        self.port = self._socket.getsockname()[1]
        self._thread = threading.Thread(target=self._serve)
        self._thread.start()

    def _serve(self) -> None:
        context = server_context()
        while True:
            try:
                taken, _ = self._socket.accept()
            except OSError:
                return
            with taken, suppress(OSError):
                taken.settimeout(5)
                with context.wrap_socket(taken, server_side=True) as spoken:
                    self.told += spoken.recv(4096)

    def close(self) -> None:
        self._socket.shutdown(socket.SHUT_RDWR)
        self._socket.close()
        self._thread.join()


@pytest.fixture
def listener() -> Iterator[Listener]:
    made = Listener()
    yield made
    made.close()


@pytest.fixture(params=["worker", "API"])
def asked(request: pytest.FixtureRequest, listener: Listener) -> Callable[[str], bytes]:
    def ask(query: str) -> bytes:
        url = f"rediss://:{PASSWORD}@127.0.0.1:{listener.port}/0{query}"
        app: Celery = make_app(lambda: url) if request.param == "worker" else worker_wakeup.client_app(url)
        with app, app.connection_for_write() as connection, pytest.raises(OperationalError):
            connection.ensure_connection(max_retries=1, timeout=2, interval_start=0, interval_step=0)
        return listener.told

    return ask


class TestTls:
    def test_unknown_certificate_does_not_receive_the_password(self, asked: Callable[[str], bytes]) -> None:
        assert asked("") == b""

    def test_an_own_authority_is_named_in_the_address(self, asked: Callable[[str], bytes], tmp_path: Path) -> None:
        (tmp_path / "authority.pem").write_bytes(certificate()[0])
        assert PASSWORD.encode() in asked(f"?ssl_ca_certs={tmp_path}/authority.pem")

    def test_verification_can_be_switched_off(self, asked: Callable[[str], bytes]) -> None:
        assert PASSWORD.encode() in asked("?ssl_cert_reqs=none")

    def test_without_tls_nothing_is_asked(self) -> None:
        assert worker_wakeup.tls("redis://127.0.0.1/0") is False
