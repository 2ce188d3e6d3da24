"""A web of stand-ins: every address has a page of ours that says which one it is, and sets a cookie.

Desktops reach it as they reach the operator's proxy: by the egress gateway, which asks the proxy in their way out. Its
certificate is its own, so the browser is told to accept any (`trusting`); the rest of a task stays as published.
"""

import datetime as dt
import ssl
import threading
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID

from backend.domain.model.task import SetupStep, Task

PAGE = "<!doctype html><title>Stand-in for {host}</title><h1>{host}</h1><p>{path}</p>{more}"
MORE = {
    "www.recreation.gov/": """<input id="hero-search-input"><button class="nav-search-button">Search</button>
        <a class="search-result-highlight--success" href="/diamond" target="_blank">Diamond</a>""",
    "www.recreation.gov/diamond": '<button class="next-available">Next</button>'
    + "".join(f'<b class="camp-sortable-column-header">{day}</b>' for day in ("Site", "Loop", "Mon 7", "Tue 8")),
}
"""Further elements that a getter looks for on some pages."""
_BROWSER = "google-chrome"
_SWITCH = "--ignore-certificate-errors"


@contextmanager
def stand_in_web(folder: Path) -> Iterator[str]:
    """The address of the running proxy; `folder` keeps its certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(_certificate(folder))

    class StandInWebHandler(BaseHTTPRequestHandler):
        def do_CONNECT(self) -> None:  # noqa: N802 - the base class' naming
            self.send_response(200)
            self.end_headers()
            with context.wrap_socket(self.connection, server_side=True) as inner:
                StandInWebHandler(inner, self.client_address, self.server)

        def do_GET(self) -> None:  # noqa: N802 - the base class' naming
            host = self.headers["Host"]
            page = PAGE.format(host=host, path=self.path, more=MORE.get(host + self.path, "")).encode()
            self.send_response(200)
            self.send_header("Content-Type", "text/html; charset=utf-8")
            self.send_header("Content-Length", str(len(page)))
            self.send_header("Set-Cookie", f"visited=1; Max-Age=86400; Domain={host.removeprefix('www.')}")
            self.end_headers()
            self.wfile.write(page)

        def log_message(self, format: str, *args: object) -> None:  # noqa: A002 - the base class' naming
            """Nothing: a browser asks for much."""

    server = _Quiet(("127.0.0.1", 0), StandInWebHandler)
    thread = threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.01}, daemon=True)
    thread.start()
    try:
        yield f"http://127.0.0.1:{server.server_address[1]}"
    finally:
        server.shutdown()
        server.server_close()
        thread.join()


class _Quiet(ThreadingHTTPServer):
    daemon_threads = True

    def handle_error(self, request: Any, client_address: Any) -> None:
        """Nothing: a browser breaks off connections that it opened in advance."""


def _certificate(folder: Path) -> Path:
    """A file with a new key and a self-signed certificate."""
    key = ec.generate_private_key(ec.SECP256R1())
    name = x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, "stand-in web")])
    today = dt.datetime.now(dt.UTC)
    builder = x509.CertificateBuilder(name, name, key.public_key(), x509.random_serial_number())
    builder = builder.not_valid_before(today).not_valid_after(today + dt.timedelta(days=2))
    made = builder.sign(key, hashes.SHA256()).public_bytes(serialization.Encoding.PEM)
    private = key.private_bytes(
        serialization.Encoding.PEM, serialization.PrivateFormat.PKCS8, serialization.NoEncryption()
    )
    path = folder / "stand-in-web.pem"
    path.write_bytes(private + made)
    return path


def trusting(task: Task) -> Task:
    """The task with a browser that takes any certificate; nothing else of it is changed."""
    after = task.evaluator.model_copy(update={"postconfig": _trusting(task.evaluator.postconfig)})
    return task.model_copy(update={"setup": _trusting(task.setup), "evaluator": after})


def _trusting(steps: Sequence[SetupStep]) -> tuple[SetupStep, ...]:
    return tuple(step.model_copy(update={"parameters": _switched(step.parameters)}) for step in steps)


def _switched(parameters: Mapping[str, Any]) -> Mapping[str, Any]:
    command = parameters.get("command")
    browser = isinstance(command, Sequence) and list(command[:1]) == [_BROWSER]
    return {**parameters, "command": [*command, _SWITCH]} if browser and command is not None else parameters
