"""Signatures of webhooks, against what the specification publishes."""

from datetime import UTC, datetime
from uuid import UUID

import pytest

from backend.domain.errors import Invalid
from backend.services.notifications.addresses import checked_email, checked_webhook
from backend.services.notifications.mailer import make_message
from backend.services.notifications.sending import headers_of
from tests.error_codes import raises_code

DELIVERY = UUID("018f0000-0000-7000-8000-000000000000")


class TestHeadersOf:
    def test_signs_as_the_specification_says(self) -> None:
        """The example of https://github.com/standard-webhooks/standard-webhooks."""
        at = datetime.fromtimestamp(1614265330, UTC)
        secret = "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"  # noqa: S105 - published
        headers = headers_of("msg_p5jXN8AQM9LWM0D4loKWxJek", '{"test": 2432232314}', (secret,), at)
        assert headers["webhook-id"] == "msg_p5jXN8AQM9LWM0D4loKWxJek"
        assert headers["webhook-timestamp"] == "1614265330"
        assert headers["webhook-signature"] == "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE="


class TestCheckedWebhook:
    @pytest.mark.parametrize("host", ["127.0.0.1", "10.0.0.1", "169.254.169.254", "[::1]", "[::ffff:10.0.0.1]"])
    def test_refuses_numbers_of_the_private_network(self, host: str) -> None:
        with raises_code(Invalid, "private_address"):
            checked_webhook(f"http://{host}/hook", ())

    def test_takes_what_the_operator_allows(self) -> None:
        assert checked_webhook(" http://10.0.0.1/hook ", ("10.0.0.1",)) == "http://10.0.0.1/hook"

    @pytest.mark.parametrize(
        "url", ["file:///etc/passwd", "https://user:word@a.example/", "a.example", "http://a\n.b/"]
    )
    def test_invalid_address_is_refused(self, url: str) -> None:
        with raises_code(Invalid, "invalid_url"):
            checked_webhook(url, ())


class TestCheckedEmail:
    @pytest.mark.parametrize(
        "text",
        [
            "",
            "ada",
            "ada@",
            "a b@c.example",
            "ada@c.example, bob@c.example",
            "ada@c.example\nBcc: x@y.example",
            "ä@ö.de",
        ],
    )
    def test_refuses_what_a_header_could_be_made_of(self, text: str) -> None:
        with raises_code(Invalid, "invalid_request"):
            checked_email(text)


class TestMakeMessage:
    def test_run_name_cannot_inject_a_header(self) -> None:
        data = {"text": "Run x\r\nBcc: eve@evil.example\r\n\r\nbody \x1b[31m", "url": "https://desk.example/runs/1"}
        message = make_message(DELIVERY, "desk@desk.example", "ada@a.example", {"data": data})
        parsed = message.as_bytes().split(b"\n\n", 1)[0].decode()
        assert "Bcc" not in message
        assert not any(line.startswith("Bcc") for line in parsed.splitlines())
        assert message["Subject"] == "[Deskarena] Run x Bcc: eve@evil.example body \\x1b[31m"
        assert message["Message-ID"] == f"<{DELIVERY.hex}@desk.example>"
        assert "\x1b" not in message.get_content()
