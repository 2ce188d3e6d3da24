from pathlib import Path

import pytest

from backend.config import Settings


class TestSecretFiles:
    @pytest.mark.parametrize(
        ("variable", "field"),
        [
            ("DATABASE_URL", "database_url"),
            ("DESKARENA_DATABASE_URL", "database_url"),
            ("REDIS_URL", "redis_url"),
            ("DESKARENA_TOKEN", "token"),
            ("DESKARENA_S3_SECRET_KEY", "s3_secret_key"),
        ],
    )
    def test_a_secret_may_lie_in_a_file(
        self, variable: str, field: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
    ) -> None:
        monkeypatch.delenv(variable, raising=False)
        monkeypatch.setenv(f"{variable}_FILE", str(tmp_path / "secret"))
        (tmp_path / "secret").write_text("hidden\n")
        assert getattr(Settings(), field).get_secret_value() == "hidden"

    def test_the_variable_goes_before_its_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN", "variable")
        monkeypatch.setenv("DESKARENA_TOKEN_FILE", str(tmp_path / "none"))
        (tmp_path / "none").write_text("file")
        token = Settings().token
        assert token is not None
        assert token.get_secret_value() == "variable"

    def test_a_file_that_is_missing_is_said(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN_FILE", str(tmp_path / "none"))
        with pytest.raises(OSError, match="none"):
            Settings()

    def test_only_secrets_lie_in_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_PORT_FILE", str(tmp_path / "port"))
        assert Settings().port == 8000
