"""Messages by SMTP."""

import smtplib
import ssl
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from datetime import UTC, datetime
from email.message import EmailMessage
from typing import Any
from uuid import UUID

from backend.config import Settings
from backend.domain.formats.foreign_text import visible
from backend.rotating_secrets import current
from backend.services.read_model import short

SECONDS = 15.0
LONGEST_SUBJECT, LONGEST_TEXT = 150, 4000
PERMANENT = 500
"""Codes of SMTP from which on a repetition has the same answer."""


class MailRefused(Exception):  # noqa: N818 - says what happened
    """The message was not accepted. `final`: it never will be."""

    def __init__(self, message: str, *, final: bool = False) -> None:
        super().__init__(message)
        self.final = final


@dataclass(frozen=True)
class Mailer:
    """Sends messages by the operator's SMTP server; `password` gives the one of now."""

    host: str
    port: int
    security: str
    user: str
    password: Callable[[], str]
    sender: str

    @classmethod
    def from_settings(cls, settings: Settings) -> "Mailer | None":
        """The mailer of the settings; None: no server is set."""
        if not settings.smtp_host:
            return None
        return cls(
            settings.smtp_host,
            settings.smtp_port,
            settings.smtp_security,
            settings.smtp_user,
            current(settings, "smtp_password"),
            settings.smtp_sender,
        )

    def send(self, delivery_id: UUID, address: str, payload: Mapping[str, Any]) -> None:
        """Sends one message.

        Raises:
            MailRefused: the server cannot be reached, or does not accept it.
        """
        message = make_message(delivery_id, self.sender, address, payload)
        try:
            with self._connect() as server:
                if self.user:
                    server.login(self.user, self.password())
                server.send_message(message)
        except smtplib.SMTPRecipientsRefused as error:
            code, text = next(iter(error.recipients.values()))
            raise MailRefused(_words(code, text), final=code >= PERMANENT) from error
        except smtplib.SMTPResponseException as error:
            raise MailRefused(_words(error.smtp_code, error.smtp_error)) from error
        except (smtplib.SMTPException, OSError) as error:
            reason = getattr(error, "strerror", None) or str(error) or type(error).__name__
            raise MailRefused(f"{self.host}:{self.port}: {reason}") from error

    def _connect(self) -> smtplib.SMTP:
        context = ssl.create_default_context()
        if self.security == "tls":
            return smtplib.SMTP_SSL(self.host, self.port, timeout=SECONDS, context=context)
        server = smtplib.SMTP(self.host, self.port, timeout=SECONDS)
        if self.security == "starttls":
            try:
                server.starttls(context=context)
            except (smtplib.SMTPException, OSError):
                server.close()
                raise
        return server


def _words(code: int, text: bytes | str) -> str:
    return f"the SMTP server answered {code}: {text.decode('utf-8', 'replace') if isinstance(text, bytes) else text}"


def make_message(delivery_id: UUID, sender: str, address: str, payload: Mapping[str, Any]) -> EmailMessage:
    """The message about a payload. Names in it come from people and tasks: each header has one line.

    Its Message-ID is that of the delivery, so that a reader shows a repeated one once.
    """
    data = payload["data"]
    text = visible(str(data["text"]))
    message = EmailMessage()
    message["From"], message["To"] = sender, address
    message["Subject"] = short(" ".join(f"[Deskarena] {text}".split()), LONGEST_SUBJECT)
    message["Date"] = datetime.now(UTC)
    message["Message-ID"] = f"<{delivery_id.hex}@{sender.rpartition('@')[2]}>"
    message["Auto-Submitted"] = "auto-generated"
    link = f"\n\n{data['url']}" if data.get("url") else ""
    message.set_content(f"{text[:LONGEST_TEXT]}{link}\n")
    return message
