import gzip
import time
from collections.abc import Iterator
from http.server import BaseHTTPRequestHandler

import pytest

from backend.domain.errors import Invalid, WebFailed
from backend.services.artifacts.egress_policy import EgressPolicy
from backend.services.artifacts.ssrf_safe_http import GuardedWeb
from tests.error_codes import raises_code
from tests.fakes.origin_server import OriginServer, origin, redirect, reply

OPEN = GuardedWeb(EgressPolicy(allow_private=True))
GUARDED = GuardedWeb()


@pytest.fixture
def site() -> Iterator[OriginServer]:
    with origin() as found:
        yield found


class TestGet:
    def test_page_is_returned_with_its_headers(self, site: OriginServer) -> None:
        site.pages["/a%20b"] = b"data"
        answer = OPEN.get(f"{site.address}/a b")
        assert (answer.status, answer.body, answer.headers["content-length"]) == (200, b"data", "4")
        assert abs(answer.fetched_at - time.time()) < 60

    def test_a_status_is_an_answer(self, site: OriginServer) -> None:
        assert OPEN.get(f"{site.address}/nothing").status == 404

    def test_sends_no_proxy_credentials_or_cookies(self, site: OriginServer, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("http_proxy", "http://127.0.0.1:9")
        site.pages["/a"] = redirect("/b")
        site.pages["/b"] = b"data"
        assert OPEN.get(f"{site.address}/a").body == b"data"
        for _, _, headers, _ in site.asked:
            assert set(headers) == {"host", "user-agent", "accept", "accept-encoding"}

    def test_a_redirect_says_where_it_led(self, site: OriginServer) -> None:
        site.pages["/a"] = redirect("/b", 307)
        site.pages["/b"] = b"data"
        assert OPEN.get(f"{site.address}/a").url == f"{site.address}/b"

    def test_given_headers_do_not_follow_to_another_server(self, site: OriginServer) -> None:
        with origin() as other:
            site.pages["/a"] = redirect(f"{other.address}/b")
            other.pages["/b"] = b"data"
            OPEN.get(f"{site.address}/a", headers={"Authorization": "Bearer x"})
            assert site.asked[0][2]["authorization"] == "Bearer x"
            assert "authorization" not in other.asked[0][2]

    def test_endless_redirects_are_stopped(self, site: OriginServer) -> None:
        site.pages["/a"] = redirect("/a")
        with raises_code(WebFailed, "too_many_redirects", mentions="10"):
            OPEN.get(f"{site.address}/a")
        assert len(site.asked) == 11

    @pytest.mark.parametrize("target", ["file:///etc/passwd", "ftp://a.example/x", "http://user@a.example/"])
    def test_a_redirect_elsewhere_is_checked_like_the_first(self, site: OriginServer, target: str) -> None:
        site.pages["/a"] = redirect(target)
        with pytest.raises(Invalid):
            OPEN.get(f"{site.address}/a")

    def test_a_redirect_into_the_private_network(self, site: OriginServer) -> None:
        """The first name is allowed, where it leads to is not."""
        web = GuardedWeb(EgressPolicy(private_hosts=("mirror.example",)), resolver=lambda *_: ["127.0.0.1"])
        site.pages["/a"] = redirect(f"http://inside.example:{site.port}/b")
        with raises_code(Invalid, "private_address", mentions=("inside.example", "127.0.0.1")):
            web.get(f"http://mirror.example:{site.port}/a")
        assert [asked[1] for asked in site.asked] == ["/a"]

    def test_this_machine_is_never_asked(self, site: OriginServer) -> None:
        for host in ("127.0.0.1", "localhost", "[::1]", "[::ffff:127.0.0.1]", "0", "0x7f000001"):
            with pytest.raises((Invalid, WebFailed)):
                GUARDED.get(f"http://{host}:{site.port}/")
        assert site.asked == []

    def test_a_name_is_resolved_once(self, site: OriginServer) -> None:
        """A second DNS query would give another address (DNS rebinding), so there must be only one."""
        answers = iter([["127.0.0.1"]])
        web = GuardedWeb(EgressPolicy(allow_private=True), resolver=lambda *_: next(answers))
        site.pages["/a"] = b"data"
        assert web.get(f"http://a.example:{site.port}/a").body == b"data"
        assert site.asked[0][2]["host"] == f"a.example:{site.port}"

    @pytest.mark.parametrize("announced", [True, False])
    def test_too_large_response_is_stopped(self, site: OriginServer, *, announced: bool) -> None:
        def endless(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Connection", "close")
            handler.end_headers()
            handler.close_connection = True
            for _ in range(100):
                handler.wfile.write(b"x" * 1000)

        site.pages["/a"] = b"x" * 100_000 if announced else endless
        with raises_code(WebFailed, "download_too_large", mentions="1000"):
            OPEN.get(f"{site.address}/a", max_bytes=1000)

    def test_a_small_answer_that_unpacks_to_a_large_one(self, site: OriginServer) -> None:
        def bomb(handler: BaseHTTPRequestHandler) -> None:
            data = gzip.compress(bytes(5_000_000))
            handler.send_response(200)
            handler.send_header("Content-Encoding", "gzip")
            handler.send_header("Content-Length", str(len(data)))
            handler.end_headers()
            handler.wfile.write(data)

        site.pages["/a"] = bomb
        with raises_code(WebFailed, "download_too_large", mentions="100000"):
            OPEN.get(f"{site.address}/a", max_bytes=100_000)

    def test_slow_trickle_times_out(self, site: OriginServer) -> None:
        """No single read waits long; all of them together must not either."""

        def slow(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            try:
                for _ in range(1000):
                    handler.wfile.write(b"x")
                    time.sleep(0.05)
            except OSError:
                handler.close_connection = True

        site.pages["/a"] = slow
        started = time.monotonic()
        with raises_code(WebFailed, "web_timeout"):
            OPEN.get(f"{site.address}/a", timeout=0.5)
        assert time.monotonic() - started < 30

    def test_unreachable_server_is_reported(self, site: OriginServer) -> None:
        with raises_code(WebFailed, "web_unreachable"):
            OPEN.get("http://127.0.0.1:9/")

    def test_an_answer_that_is_cut_off(self, site: OriginServer) -> None:
        def cut(handler: BaseHTTPRequestHandler) -> None:
            handler.send_response(200)
            handler.send_header("Content-Length", "1000")
            handler.end_headers()
            handler.wfile.write(b"half")
            handler.close_connection = True

        site.pages["/a"] = cut
        with pytest.raises(WebFailed):
            OPEN.get(f"{site.address}/a")


class TestSend:
    def test_a_body_and_its_headers(self, site: OriginServer) -> None:
        site.pages["/a"] = reply(b"{}", "application/json")
        answer = OPEN.send("POST", f"{site.address}/a", headers={"Content-Type": "text/plain"}, body=b"x=1")
        assert answer.body == b"{}"
        assert site.asked[0][0] == "POST"
        assert site.asked[0][3] == b"x=1"

    def test_a_redirect_is_an_answer(self, site: OriginServer) -> None:
        site.pages["/a"] = redirect("/b")
        assert OPEN.send("POST", f"{site.address}/a").status == 302

    def test_the_private_network_is_refused(self, site: OriginServer) -> None:
        with pytest.raises(Invalid):
            GUARDED.send("DELETE", f"{site.address}/a")
