import pytest

from backend.cli.embedded import external
from backend.cli.errors import StackError, UsageError
from tests.error_codes import raises_code


class TestCheckDatabase:
    def test_another_kind_of_database_is_refused(self) -> None:
        with raises_code(UsageError, "invalid_database_url"):
            external.check_database("sqlite:///x")

    def test_unreachable_server_is_reported_without_the_password(self) -> None:
        with raises_code(StackError, "database_not_reachable") as caught:
            external.check_database("postgresql+psycopg://me:pass-word@127.0.0.1:1/x")
        assert "pass-word" not in str(caught.value)


class TestCheckBroker:
    def test_another_kind_of_broker_is_refused(self) -> None:
        with raises_code(UsageError, "invalid_broker_url"):
            external.check_broker("amqp://x")

    @pytest.mark.parametrize("url", ["redis://:pass-word@127.0.0.1:1/0", "redis+socket:///no/such/socket"])
    def test_unreachable_server_is_reported_without_the_password(self, url: str) -> None:
        with raises_code(StackError, "broker_not_reachable") as caught:
            external.check_broker(url)
        assert "pass-word" not in str(caught.value)


class TestCheck:
    def test_no_addresses_are_not_checked(self) -> None:
        external.check({"HOME": "/x"})
