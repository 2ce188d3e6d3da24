import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.secret import Secret
from tests.error_codes import raises_fields

GOOD = "0123456789abcdef"


class TestAllows:
    def test_the_secret_is_allowed(self) -> None:
        assert Secret(GOOD).allows(f"Bearer {GOOD}")

    @pytest.mark.parametrize(
        "header",
        [None, "", GOOD, "Bearer", "Bearer ", f"Basic {GOOD}", f"Bearer {GOOD}x", f"Bearer {GOOD[:-1]}", "Bearer é"],
    )
    def test_anything_else_is_refused(self, header: str | None) -> None:
        assert not Secret(GOOD).allows(header)


class TestReplace:
    def test_the_new_one_is_allowed_and_the_old_one_refused(self) -> None:
        secret = Secret(GOOD)
        secret.replace("fedcba9876543210")
        assert secret.allows("Bearer fedcba9876543210")
        assert not secret.allows(f"Bearer {GOOD}")

    @pytest.mark.parametrize("weak", ["", "short", "fifteen-chars-x", "sixteen chars\nxx", "éééééééééééééééé"])
    def test_a_weak_one_is_refused_and_the_old_one_stays(self, weak: str) -> None:
        secret = Secret(GOOD)
        with raises_fields(GuestError, kind="bad_request", mentions="16"):
            secret.replace(weak)
        assert secret.allows(f"Bearer {GOOD}")
