from contextlib import suppress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from backend.domain.errors import Invalid, WebFailed
from backend.services.artifacts.egress_policy import EgressPolicy, allowed_addresses, checked_url, is_public
from tests.error_codes import raises_code


class TestCheckedUrl:
    @pytest.mark.parametrize("url", ["http://a.example/x", "https://a.example:8443/%20?q=1#f", "https://a.example/ä b"])
    def test_ordinary_addresses_pass(self, url: str) -> None:
        assert checked_url(url).hostname == "a.example"

    @pytest.mark.parametrize(
        "url",
        [
            "", "a.example", "ftp://a.example/x", "file:///etc/passwd", "gopher://a.example", "http:///x", "http://",
            "http://user:password@a.example/", "http://user@a.example/", "http://a.example:99999/", "http://a.example:0/",
            "http://a.example/\r\nHost: b.example", " http://a.example", "http://[::1", "http://a.example\\@b.example/",
            "http://a.example/" + "x" * 3000,
        ],
    )  # fmt: skip
    def test_others_are_refused(self, url: str) -> None:
        with pytest.raises(Invalid):
            checked_url(url)

    @given(st.text(max_size=60))
    def test_any_input_raises_only_the_typed_error(self, text: str) -> None:
        with suppress(Invalid):
            assert checked_url(text).hostname


class TestIsPublic:
    @pytest.mark.parametrize("address", ["8.8.8.8", "1.1.1.1", "2606:4700::1111"])
    def test_the_public_network(self, address: str) -> None:
        assert is_public(address)

    @pytest.mark.parametrize(
        "address",
        [
            "127.0.0.1", "127.8.8.8", "0.0.0.0", "10.0.0.1", "172.16.0.1", "192.168.1.1", "169.254.169.254",
            "100.64.0.1", "224.0.0.1", "239.1.1.1", "240.0.0.1", "255.255.255.255", "192.0.2.1", "198.18.0.1",
            "::", "::1", "fe80::1", "fe80::1%eth0", "fc00::1", "fd12::1", "ff02::1", "fec0::1", "2001:db8::1",
            "::ffff:8.8.8.8", "::ffff:127.0.0.1", "::127.0.0.1", "64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::",
            "2001:0:4136:e378:8000:63bf:3fff:fdd2",
        ],
    )  # fmt: skip
    def test_private_and_special_addresses_are_not_public(self, address: str) -> None:
        assert not is_public(address)


class TestAllowedAddresses:
    def test_a_public_name(self) -> None:
        assert allowed_addresses("a.example", 80, EgressPolicy(), lambda *_: ["8.8.8.8", "1.1.1.1"]) == [
            "8.8.8.8",
            "1.1.1.1",
        ]

    def test_one_private_address_is_enough_to_refuse(self) -> None:
        with raises_code(Invalid, "private_address", mentions=("a.example", "10.0.0.1")):
            allowed_addresses("a.example", 80, EgressPolicy(), lambda *_: ["8.8.8.8", "10.0.0.1"])

    @pytest.mark.parametrize("host", ["127.0.0.1", "0x7f.1", "2130706433", "localhost", "::1"])
    def test_spellings_of_this_machine(self, host: str) -> None:
        with pytest.raises((Invalid, WebFailed)):
            allowed_addresses(host, 80, EgressPolicy())

    def test_a_mirror_that_the_operator_named(self) -> None:
        reach = EgressPolicy(private_hosts=("mirror.example",))
        assert allowed_addresses("Mirror.example.", 80, reach, lambda *_: ["10.0.0.1"]) == ["10.0.0.1"]

    def test_a_name_that_does_not_resolve(self) -> None:
        def nothing(_host: str, _port: int) -> list[str]:
            raise OSError("no such name")

        with raises_code(WebFailed, "host_not_resolved"):
            allowed_addresses("a.example", 80, EgressPolicy(), nothing)
