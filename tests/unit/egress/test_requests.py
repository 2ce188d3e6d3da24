import contextlib

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from worker.egress.requests import BadRequest, allows, read_request, same


def head(text: str) -> bytes:
    return text.replace("\n", "\r\n").encode() + b"\r\n\r\n"


class TestReadRequest:
    def test_connect_request_is_parsed(self) -> None:
        result = read_request(head("CONNECT A.example.:443 HTTP/1.1\nHost: a.example:443"))
        assert (result.method, result.url, result.host, result.port) == ("CONNECT", "", "a.example", 443)

    def test_a_plain_request_is_passed_on_without_what_is_for_the_proxy(self) -> None:
        result = read_request(
            head("GET http://a.example/x?y=1 HTTP/1.1\nHost: evil.example\nProxy-Authorization: z\nAccept: */*")
        )
        assert result.forwarded(whole=False) == head(
            "GET /x?y=1 HTTP/1.1\nHost: a.example\nConnection: close\nAccept: */*"
        )

    def test_to_a_further_proxy_the_whole_address_goes(self) -> None:
        result = read_request(head("GET http://a.example:81/ HTTP/1.1"))
        assert result.forwarded(whole=True, extra="X: 1\r\n").startswith(
            b"GET http://a.example:81/ HTTP/1.1\r\nHost: a.example:81\r\nConnection: close\r\nX: 1\r\n"
        )

    @pytest.mark.parametrize(
        "text",
        [
            "", "GET", "GET / HTTP/1.1", "GET a.example HTTP/1.1", "GET ftp://a.example/ HTTP/1.1",
            "CONNECT : HTTP/1.1", "CONNECT user@a.example:443 HTTP/1.1", "GET http://u:p@a.example/ HTTP/1.1",
            "GET http://a.example/ HTTP/2",
            "GET http://a.example/ HTTP/1.1\nno colon", "GET http://a.example/ HTTP/1.1\nName : x",
            "GET http://a.example:x/ HTTP/1.1", "GET http://a.example:99999/ HTTP/1.1", "GET http://[::1/ HTTP/1.1",
        ],
    )  # fmt: skip
    def test_malformed_requests_are_rejected(self, text: str) -> None:
        with pytest.raises(BadRequest):
            read_request(head(text))

    def test_control_characters_could_become_a_second_request(self) -> None:
        with pytest.raises(BadRequest):
            read_request(b"GET http://a.example/\nX HTTP/1.1\r\n\r\n")

    @settings(deadline=None)
    @given(st.binary(max_size=80))
    def test_arbitrary_bytes_are_parsed_or_rejected(self, data: bytes) -> None:
        with contextlib.suppress(BadRequest):
            assert read_request(data + b"\r\n\r\n").host


class TestLength:
    @pytest.mark.parametrize(("headers", "length"), [("", 0), ("\nContent-Length: 5", 5)])
    def test_of_a_body(self, headers: str, length: int) -> None:
        assert read_request(head(f"POST http://a.example/ HTTP/1.1{headers}")).length() == length

    @pytest.mark.parametrize(
        "headers",
        [
            "Content-Length: 5\nContent-Length: 6",
            "Content-Length: -1",
            "Transfer-Encoding: chunked",
            "Content-Length: ²",
        ],
    )
    def test_ambiguous_length_is_refused(self, headers: str) -> None:
        with pytest.raises(BadRequest):
            read_request(head(f"POST http://a.example/ HTTP/1.1\n{headers}")).length()


class TestWithin:
    """A program's request to a server that the gateway is itself."""

    def test_a_path_is_of_that_server(self) -> None:
        request = read_request(b"GET /x?y=1 HTTP/1.1\r\nHost: b.example\r\n\r\n", within="https://a.example:8443")
        assert (request.url, request.host, request.port) == ("https://a.example:8443/x?y=1", "a.example", 8443)

    @pytest.mark.parametrize("target", ["https://a.example/x", "x", "*", ""])
    def test_malformed_paths_are_rejected(self, target: str) -> None:
        with pytest.raises(BadRequest):
            read_request(f"GET {target} HTTP/1.1\r\n\r\n".encode(), within="https://a.example:443")

    @pytest.mark.parametrize("path", ["//b.example/x", "/@b.example", "/\\b.example"])
    def test_no_path_leads_to_another_host(self, path: str) -> None:
        request = read_request(f"GET {path} HTTP/1.1\r\n\r\n".encode(), within="https://a.example:443")
        assert (request.host, request.port) == ("a.example", 443)


class TestAllows:
    @pytest.mark.parametrize(
        ("pattern", "host", "port"),
        [
            ("a.example", "a.example", 443), ("A.example", "a.example", 80), ("*.a.example", "x.y.a.example", 443),
            ("*", "b.example", 80), ("a.example:8443", "a.example", 8443), ("*:81", "b.example", 81),
        ],
    )  # fmt: skip
    def test_matching_hosts_are_allowed(self, pattern: str, host: str, port: int) -> None:
        assert allows(pattern, host, port)

    @pytest.mark.parametrize(
        ("pattern", "host", "port"),
        [
            ("a.example", "b.example", 443), ("a.example", "x.a.example", 443), ("*.a.example", "a.example", 443),
            ("*.a.example", "xa.example", 443), ("a.example", "a.example", 22), ("*", "a.example", 25), ("", "a", 80),
        ],
    )  # fmt: skip
    def test_other_hosts_are_not_allowed(self, pattern: str, host: str, port: int) -> None:
        assert not allows(pattern, host, port)


class TestSame:
    def test_spellings_of_one_address(self) -> None:
        spellings = ["https://A.example/a%20b?q=1", "http://a.example./a b?q=1"]
        assert len({same(url) for url in spellings}) == 1

    def test_addresses_with_different_queries_differ(self) -> None:
        assert same("http://a.example/x") != same("http://a.example/x?y")
