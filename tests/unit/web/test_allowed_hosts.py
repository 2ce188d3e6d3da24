import socket

import pytest

from backend.web.allowed_hosts import KnownHosts, name_of


class TestNameOf:
    @pytest.mark.parametrize(
        ("authority", "name"),
        [
            ("localhost:8000", "localhost"),
            ("LOCALHOST.", "localhost"),
            ("[::1]:8000", "::1"),
            ("a.example:99999999", ""),
            ("user@localhost", ""),
            ("localhost/x", ""),
            ("", ""),
        ],
    )
    def test_reads_the_name_or_nothing(self, authority: str, name: str) -> None:
        assert name_of(authority) == name


class TestKnows:
    @pytest.mark.parametrize("host", ["127.0.0.1:8000", "localhost", "[::1]:8000"])
    def test_loopback_names_are_known(self, host: str) -> None:
        assert KnownHosts("127.0.0.1").knows(host)

    @pytest.mark.parametrize("host", ["evil.example", "127.0.0.1.evil.example", "10.0.0.5", "", "localhost:x"])
    def test_refuses_foreign_names_on_loopback(self, host: str) -> None:
        assert not KnownHosts("127.0.0.1").knows(host)

    def test_a_listed_name_counts(self) -> None:
        assert KnownHosts("127.0.0.1", ["Arena.example"]).knows("arena.example:443")

    def test_on_the_network_addresses_and_the_own_name_count(self) -> None:
        hosts = KnownHosts("0.0.0.0")
        assert hosts.knows("10.0.0.5:8000")
        assert hosts.knows(socket.gethostname())
        assert not hosts.knows("evil.example")


class TestSameOrigin:
    @pytest.mark.parametrize("origin", ["http://127.0.0.1:8000", "https://127.0.0.1:8000"])
    def test_same_name_and_port(self, origin: str) -> None:
        assert KnownHosts("127.0.0.1").same_origin(origin, "127.0.0.1:8000")

    @pytest.mark.parametrize(
        "origin",
        ["http://127.0.0.1:9000", "http://evil.example", "null", "", "file://", "http://[", "ftp://127.0.0.1:8000"],
    )
    def test_everything_else_is_foreign(self, origin: str) -> None:
        assert not KnownHosts("127.0.0.1").same_origin(origin, "127.0.0.1:8000")
