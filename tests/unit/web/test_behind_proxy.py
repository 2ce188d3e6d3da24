import asyncio
import json
import re
import socket
from pathlib import Path
from typing import Any

import pytest
from fastapi.testclient import TestClient
from starlette.types import Receive, Scope, Send

from backend.addresses import own_address
from backend.config import Settings
from backend.domain.errors import Invalid
from backend.web.app import create_app
from backend.web.behind_proxy import SubPath, TrustedProxies
from backend.web.serve import listen_to_all
from backend.web.static_files import STATIC

ROOT = "/tools/deskarena"
TOKEN = "a-token-of-this-test"  # noqa: S105 - no secret


def client_of(folder: Path, **settings: Any) -> TestClient:
    app = create_app(Settings(data_dir=folder, **settings))
    return TestClient(app, base_url="http://127.0.0.1", follow_redirects=False)


class TestSubPath:
    def test_addresses_of_the_service_get_the_root(self) -> None:
        page = SubPath(f"{ROOT}/", {"runs", "api", "ws"}).page
        assert page('<a href="/">') == f'<a href="{ROOT}/">'
        assert page('<img src="/api/v1/x"\n data-chart="/runs?a=b">') == (
            f'<img src="{ROOT}/api/v1/x"\n data-chart="{ROOT}/runs?a=b">'
        )
        for other in (
            '<a href="//elsewhere/runs">', '<a href="#runs">', '<td data-label="/home/user">', '<a href="/runsx">',
            '<main data-stream="/ws/events /ws/x">', '<input value="/runs">', "a text: /runs",
        ):  # fmt: skip
            assert page(other) == other
        assert SubPath("", {"runs"}).page('<a href="/runs">') == '<a href="/runs">'

    def test_no_page_of_the_service_is_a_root(self, tmp_path: Path) -> None:
        with pytest.raises(Invalid) as raised:
            client_of(tmp_path, root_path="/runs/x")
        assert raised.value.code == "invalid_root_path"


class TestBelowAPath:
    @pytest.mark.parametrize("prefix", ["", ROOT], ids=["taken off by the proxy", "passed on"])
    def test_outgoing_addresses_have_the_root(self, tmp_path: Path, prefix: str) -> None:
        client = client_of(tmp_path, root_path=ROOT, token=TOKEN)
        page = {"Accept": "text/html"}
        answer = client.get(f"{prefix}/runs?q=x", headers=page)
        assert (answer.status_code, answer.headers["location"]) == (303, f"{ROOT}/login?next=/runs%3Fq%3Dx")
        answer = client.get(f"{prefix}/login?next=/runs", headers=page)
        assert f'action="{ROOT}/login"' in answer.text
        assert f'data-root="{ROOT}"' in answer.text
        answer = client.post(f"{prefix}/login", data={"token": TOKEN, "next": "/runs"})
        assert answer.headers["location"] == f"{ROOT}/runs"
        assert f"; Path={ROOT}/;" in answer.headers["set-cookie"]
        header = {"Authorization": f"Bearer {TOKEN}"}
        assert client.get(f"{prefix}/docs", headers=header).headers["location"] == f"http://127.0.0.1{ROOT}/docs/"
        assert client.get(f"{prefix}/api/v1/openapi.json", headers=header).json()["servers"] == [{"url": ROOT}]
        script = re.findall(r'src="([^"]+main\.js)"', client.get(f"{prefix}/login", headers=page).text)[0]
        assert client.get(script).status_code == 200


class TestModules:
    def test_addresses_of_the_service_get_the_root(self) -> None:
        """`at()` of lib/address.js has it; sockets get it where they are opened."""
        bare = re.compile(r"""(?<!at\()(["'`])/(?!ws/)[a-z][^"'`\n]*\1""")
        found = {f"{path.name}: {each[0]}" for path in STATIC.rglob("*.js") for each in bare.finditer(path.read_text())}
        assert found == set()


class TestTrustedProxies:
    @pytest.mark.parametrize(
        ("client", "expected"),
        [
            ("10.1.2.3", {"scheme": "https", "host": "example.org", "client": "203.0.113.9"}),
            ("::1", {"scheme": "https", "host": "example.org", "client": "203.0.113.9"}),
            ("192.0.2.1", {"scheme": "http", "host": "inner:8000", "client": "192.0.2.1"}),
        ],
    )
    def test_only_listed_proxies_are_trusted(self, client: str, expected: dict[str, str]) -> None:
        seen: dict[str, str] = {}

        async def app(scope: Scope, _receive: Receive, _send: Send) -> None:
            host = dict(scope["headers"])[b"host"].decode()
            seen.update({"scheme": scope["scheme"], "host": host, "client": scope["client"][0]})

        headers = {
            "host": "inner:8000",
            "x-forwarded-proto": "https",
            "x-forwarded-host": "example.org",
            "x-forwarded-for": "203.0.113.9",
        }
        scope = {
            "type": "http",
            "scheme": "http",
            "client": (client, 4711),
            "headers": [(name.encode(), value.encode()) for name, value in headers.items()],
        }
        unused: Any = None
        asyncio.run(TrustedProxies(app, ("10.0.0.0/8", "::1"))(scope, unused, unused))
        assert seen == expected

    def test_a_cookie_behind_https_is_secure(self, tmp_path: Path) -> None:
        for trusted, secure in ((("testclient",), True), ((), False)):
            client = client_of(tmp_path, token=TOKEN, trusted_proxies=trusted)
            answer = client.post("/login", data={"token": TOKEN}, headers={"X-Forwarded-Proto": "https"})
            assert ("Secure" in answer.headers["set-cookie"]) is secure


class TestIpv6:
    def test_own_address_brackets_ipv6(self) -> None:
        assert own_address("::", 80) == "http://[::1]:80"
        assert own_address("fd00::5", 80) == "http://[fd00::5]:80"
        assert own_address("0.0.0.0", 80) == own_address("127.0.0.1", 80) == "http://127.0.0.1:80"  # noqa: S104
        assert own_address("desks.example.org", 80) == "http://desks.example.org:80"

    def test_all_addresses_are_both_kinds(self) -> None:
        if not socket.has_ipv6:
            pytest.skip("needs IPv6")
        with listen_to_all(0) as listener:
            port = listener.getsockname()[1]
            for host in ("::1", "127.0.0.1"):
                with socket.create_connection((host, port), 5):
                    listener.accept()[0].close()

    def test_pages_answer_to_an_ipv6_address(self, tmp_path: Path) -> None:
        app = create_app(Settings(data_dir=tmp_path, host="::1"))
        client = TestClient(app, base_url="http://[::1]:8000", follow_redirects=False)
        assert json.loads(client.get("/livez").text)
        assert client.get("/docs").headers["location"] == "http://[::1]:8000/docs/"
        headers = {"Origin": "http://[::1]:8000", "Accept": "text/html"}
        assert client.post("/login", data={"token": "x"}, headers=headers).status_code == 303
