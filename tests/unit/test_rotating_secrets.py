"""Secrets of files are read again; see the database, the bucket and the cluster for who uses them."""

from pathlib import Path

import pytest

from backend.config import Settings
from backend.rotating_secrets import current


class TestCurrent:
    def test_follows_its_file_and_bridges_the_moment_of_its_rotation(
        self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        file = tmp_path / "key"
        file.write_text("first\n")
        monkeypatch.setenv("DESKARENA_S3_SECRET_KEY_FILE", str(file))
        secret = current(Settings(), "s3_secret_key")
        assert secret() == "first"
        file.unlink()
        assert [secret(), secret()] == ["first", "first"]
        assert len(caplog.records) == 1
        file.write_text("")
        assert secret() == "first"
        (tmp_path / "new").write_text("other")  # As long as the first: it is told by more than its size.
        (tmp_path / "new").rename(file)
        assert secret() == "other"

    def test_a_token_that_can_be_guessed_never_counts(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        file = tmp_path / "token"
        file.write_text("a-token-that-is-long")
        monkeypatch.setenv("DESKARENA_TOKEN_FILE", str(file))
        token = current(Settings(), "token")
        file.write_text("short")
        assert token() == "a-token-that-is-long"

    def test_a_variable_takes_precedence(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_S3_SECRET_KEY", "of the variable")
        monkeypatch.setenv("DESKARENA_S3_SECRET_KEY_FILE", str(tmp_path / "file"))
        (tmp_path / "file").write_text("of the file")
        assert current(Settings(), "s3_secret_key")() == "of the variable"
        assert current(Settings(), "s3_access_key")() == ""
