"""E-mail by a real SMTP server."""

from pathlib import Path

import pytest

from backend.db.models import UserAccount
from tests.fakes.kubernetes.tls import certificate, server_context
from tests.fakes.mail_server import LOGIN, REFUSED, mail_server
from tests.integration.web.notifications.conftest import PUBLIC, Notifier


class TestEmail:
    def test_follows_a_password_whose_file_rotates(
        self, notifier: Notifier, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "authority.pem").write_bytes(certificate()[0])
        (tmp_path / "password").write_text("the one before")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        monkeypatch.setenv("DESKARENA_SMTP_PASSWORD_FILE", str(tmp_path / "password"))
        with mail_server(server_context()) as mailbox:
            notifier.configure(smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_user="desk")
            sender = notifier.sender()
            notifier.subscribe("run.ended", kind="email", address="ada@example.org")
            notifier.completed_run(1.0, 1.0, 1.0)
            notifier.turn(sender=sender)
            assert mailbox.messages == []
            (tmp_path / "new").write_bytes(LOGIN.password)
            (tmp_path / "new").rename(tmp_path / "password")
            notifier.turn(sender=sender)
        assert len(mailbox.messages) == 1

    def test_arrives_by_tls_and_password(
        self, notifier: Notifier, monkeypatch: pytest.MonkeyPatch, tmp_path: Path
    ) -> None:
        (tmp_path / "authority.pem").write_bytes(certificate()[0])
        (tmp_path / "password").write_bytes(LOGIN.password + b"\n")
        monkeypatch.setenv("SSL_CERT_FILE", str(tmp_path / "authority.pem"))
        monkeypatch.setenv("DESKARENA_SMTP_PASSWORD_FILE", str(tmp_path / "password"))
        with mail_server(server_context()) as mailbox:
            notifier.configure(
                smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_user="desk", smtp_sender="desk@desk.example"
            )
            notifier.subscribe("run.ended", kind="email", address="ada@example.org")
            run = notifier.completed_run(1.0, 1.0, 1.0, name="night\u2028Bcc: eve@example.org")
            notifier.turn()
        ((receivers, message),) = mailbox.messages
        assert receivers == ["ada@example.org"]
        assert (message["From"], message["To"], message["Bcc"]) == ("desk@desk.example", "ada@example.org", None)
        assert "night Bcc: eve@example.org is completed: 3 of 3 episodes scored." in message["Subject"]
        assert f"{PUBLIC}/runs/{run}" in message.get_content()
        (delivery,) = notifier.deliveries()
        assert (delivery["state"], delivery["attempts"][0]["answer"]) == ("delivered", "accepted by 127.0.0.1")
        assert mailbox.logins == [LOGIN.login]

    def test_permanent_refusals_are_not_repeated(self, notifier: Notifier) -> None:
        with mail_server() as mailbox:
            notifier.configure(smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_security="none")
            made = notifier.subscribe("run.ended", kind="email", address=REFUSED)
            sent = notifier.client.post(f"/api/v1/subscriptions/{made['id']}/test")
            notifier.turn()
        (delivery,) = notifier.deliveries()
        assert sent.headers["location"] == f"/api/v1/deliveries/{delivery['id']}"
        assert (delivery["state"], delivery["tries"]) == ("failed", 1)
        assert "550" in delivery["attempts"][0]["error"]
        again = notifier.client.post(f"/api/v1/deliveries/{delivery['id']}/redeliver")
        assert (again.status_code, again.headers["location"]) == (202, sent.headers["location"])
        notifier.turn()  # The server is gone.
        (delivery,) = notifier.deliveries()
        assert delivery["state"] == "waiting"

    def test_disabled_person_gets_no_email(self, notifier: Notifier) -> None:
        with mail_server() as mailbox:
            notifier.configure(smtp_host="127.0.0.1", smtp_port=mailbox.port, smtp_security="none")
            notifier.subscribe("run.ended", kind="email", address="Eve@example.org")
            notifier.made.do(lambda session: session.add(UserAccount(name="eve@example.org")))
            notifier.completed_run(1.0, 1.0, 1.0)
            notifier.turn()
        assert mailbox.messages == []

    def test_needs_a_server_and_an_address(self, notifier: Notifier) -> None:
        body: dict[str, object] = {"kind": "email", "address": "ada@example.org", "events": ["run.ended"]}
        answer = notifier.client.post("/api/v1/subscriptions", json=body)
        assert (answer.status_code, answer.json()["code"]) == (409, "email_not_configured")
        notifier.configure(smtp_host="127.0.0.1")
        answer = notifier.client.post(
            "/api/v1/subscriptions", json={**body, "address": "a@b.example\r\nBcc: c@d.example"}
        )
        assert answer.status_code == 422
