import socket

import pytest

from backend.addresses import is_loopback
from backend.cli.embedded.listen_socket import check_exposure, listen, url_of
from backend.cli.errors import ExitCode, StackError, UsageError
from tests.error_codes import raises_code

EVERYWHERE = "0.0.0.0"  # noqa: S104  what is tested is that nobody gets this without a token


class TestIsLoopback:
    @pytest.mark.parametrize("host", ["127.0.0.1", "127.8.8.8", "::1", "localhost"])
    def test_this_machine_only(self, host: str) -> None:
        assert is_loopback(host)

    @pytest.mark.parametrize("host", [EVERYWHERE, "::", "192.168.1.2", "example.test", ""])
    def test_other_addresses_are_not_loopback(self, host: str) -> None:
        assert not is_loopback(host)


class TestCheckExposure:
    def test_other_machines_need_a_token(self) -> None:
        with raises_code(UsageError, "token_needed", mentions="DESKARENA_TOKEN"):
            check_exposure(EVERYWHERE, token="", accounts=False)

    def test_with_a_token_or_accounts_it_is_allowed(self) -> None:
        check_exposure(EVERYWHERE, token="0123456789abcdef", accounts=False)
        check_exposure(EVERYWHERE, token="", accounts=True)

    def test_a_short_token_is_refused_everywhere(self) -> None:
        with raises_code(UsageError, "token_too_short"):
            check_exposure("127.0.0.1", token="0123456789abcde", accounts=True)


class TestListen:
    def test_port_0_takes_a_free_one(self) -> None:
        with listen("127.0.0.1", 0) as listener:
            assert url_of(listener) == f"http://127.0.0.1:{listener.getsockname()[1]}"

    def test_a_taken_port_names_the_port_its_holder_and_a_free_one(self) -> None:
        with socket.create_server(("127.0.0.1", 0)) as other:
            port = other.getsockname()[1]
            with pytest.raises(StackError) as caught:
                listen("127.0.0.1", port)
        assert caught.value.exit_code is ExitCode.INFRASTRUCTURE
        message = str(caught.value)
        assert f"Port {port} on 127.0.0.1 is in use by process " in message
        free = int(message.partition("--port ")[2].partition("`")[0])
        assert port < free <= port + 50
        assert message.endswith("Nothing was started.")

    def test_an_address_of_another_machine_is_reported(self) -> None:
        with raises_code(StackError, "port_not_available", mentions="192.0.2.1"):
            listen("192.0.2.1", 8000)

    def test_no_address_is_a_usage_error(self) -> None:
        with raises_code(UsageError, "invalid_host"):
            listen("no such host", 8000)


class TestUrlOf:
    def test_all_addresses_are_reached_over_loopback(self) -> None:
        with listen(EVERYWHERE, 0) as listener:
            assert url_of(listener).startswith("http://127.0.0.1:")
