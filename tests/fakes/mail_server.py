"""An SMTP server on a loopback port that keeps what it accepts."""

import ssl
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from email import message_from_bytes, policy
from email.message import EmailMessage
from typing import Any

from aiosmtpd.controller import Controller
from aiosmtpd.smtp import AuthResult, LoginPassword

LOGIN = LoginPassword(b"desk", b"a password")
REFUSED = "nobody@example.org"


@dataclass
class Mailbox:
    """Mail that arrived: (receivers, message); `logins` are the names of those who signed in."""

    port: int = 0
    messages: list[tuple[list[str], EmailMessage]] = field(default_factory=list)
    logins: list[bytes] = field(default_factory=list)

    async def handle_RCPT(self, _server: Any, _session: Any, envelope: Any, address: str, _options: Any) -> str:  # noqa: N802 - the library's name
        """Refuses one receiver."""
        if address == REFUSED:
            return "550 no such mailbox"
        envelope.rcpt_tos.append(address)
        return "250 OK"

    async def handle_DATA(self, _server: Any, _session: Any, envelope: Any) -> str:  # noqa: N802 - the library's name
        """Keeps a message."""
        message = message_from_bytes(envelope.content, policy=policy.default)
        assert isinstance(message, EmailMessage)
        self.messages.append((envelope.rcpt_tos, message))
        return "250 OK"

    def authenticate(self, _server: Any, _session: Any, _envelope: Any, _mechanism: str, data: Any) -> AuthResult:
        """Lets in who knows the password."""
        self.logins.append(data.login)
        return AuthResult(success=data == LOGIN)


class LoopbackController(Controller):
    """One whose port the system chooses."""

    def _trigger_server(self) -> None:
        self.port = self.server.sockets[0].getsockname()[1]  # type: ignore[union-attr]
        super()._trigger_server()  # type: ignore[no-untyped-call]


@contextmanager
def mail_server(tls: ssl.SSLContext | None = None) -> Iterator[Mailbox]:
    """A running server; with `tls` it accepts mail after STARTTLS and a sign-in only."""
    mailbox = Mailbox()
    strict: dict[str, Any] = {"auth_required": True, "require_starttls": True} if tls else {}
    controller = LoopbackController(
        mailbox, hostname="127.0.0.1", port=0, tls_context=tls, authenticator=mailbox.authenticate, **strict
    )
    controller.start()
    try:
        mailbox.port = controller.port
        yield mailbox
    finally:
        controller.stop()
