"""An issuer of id tokens on loopback: its metadata and keys by HTTP, and tokens that it signs."""

import json
import threading
import time
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any

from joserfc import jwk, jwt


class FakeIssuer(ThreadingHTTPServer):
    """Signs like a CI system. `keys` are those that it publishes, the last one signs; `asked` counts requests."""

    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Handler)
        self.url = f"http://127.0.0.1:{self.server_address[1]}"
        self.calls_itself = self.url
        self.keys: list[Any] = []
        self.asked: list[str] = []
        self.rotate()

    def rotate(self) -> None:
        """Signs with a new key, and publishes no other."""
        self.keys = [jwk.RSAKey.generate_key(2048, {"kid": f"key-{time.monotonic_ns()}", "use": "sig"})]

    def token(
        self,
        claims: Mapping[str, Any] | None = None,
        *,
        key: Any = None,
        header: Mapping[str, Any] | None = None,
        **more: Any,
    ) -> str:
        """An id token for a job of the main branch; `claims` and `more` replace its own, None leaves one out."""
        now = int(time.time())
        own = {
            "iss": self.url,
            "aud": "https://deskarena.example.org",
            "sub": "repo:acme/shop:ref:refs/heads/main",
            "iat": now,
            "nbf": now,
            "exp": now + 300,
        }
        body = {name: value for name, value in {**own, **(claims or {}), **more}.items() if value is not None}
        signing = key or self.keys[-1]
        head = {"alg": "RS256", "kid": signing.kid, **(header or {})}
        return jwt.encode({name: value for name, value in head.items() if value is not None}, body, signing)


class _Handler(BaseHTTPRequestHandler):
    server: FakeIssuer

    def do_GET(self) -> None:
        self.server.asked.append(self.path)
        if self.path == "/.well-known/openid-configuration":
            body: Any = {"issuer": self.server.calls_itself, "jwks_uri": f"{self.server.url}/keys"}
        elif self.path == "/keys":
            body = {"keys": [key.as_dict(private=False) for key in self.server.keys]}
        else:
            self.send_error(404)
            return
        data = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(data)))
        self.end_headers()
        self.wfile.write(data)

    def log_message(self, *_: Any) -> None:
        pass


@contextmanager
def issuing() -> Iterator[FakeIssuer]:
    """An issuer that answers meanwhile."""
    with FakeIssuer() as server:
        thread = threading.Thread(target=server.serve_forever, args=(0.05,))
        thread.start()
        try:
            yield server
        finally:
            server.shutdown()
            thread.join(10)
