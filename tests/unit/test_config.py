import re
from pathlib import Path

import pytest

from backend.config import Settings, get_settings, known_variables, settings_or_exit, unknown_variables
from backend.environment import FOREIGN, RENAMED, RenamedVariable
from tests.architecture.tree import ROOT
from tests.error_codes import raises_fields
from tools.check_tracked import tracked_files

PRODUCT = ("backend", "deploy", "deskarena", "docker-compose.yml", "vm_images", "worker")
VARIABLE = re.compile(r"(?<![A-Z_])DESKARENA_[A-Z0-9_]*[A-Z0-9](?![A-Z0-9_])")
"""A whole name: not a prefix such as `DESKARENA_POD_`."""


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
        (tmp_path / "secret").write_text("hidden-in-a-file\n")
        assert getattr(Settings(), field).get_secret_value() == "hidden-in-a-file"

    def test_the_variable_goes_before_its_file(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN", "that-of-a-variable")
        monkeypatch.setenv("DESKARENA_TOKEN_FILE", str(tmp_path / "none"))
        (tmp_path / "none").write_text("file")
        token = Settings().token
        assert token is not None
        assert token.get_secret_value() == "that-of-a-variable"

    def test_a_file_that_is_missing_is_reported(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN_FILE", str(tmp_path / "none"))
        with raises_fields(FileNotFoundError, filename=str(tmp_path / "none")):
            Settings()

    def test_a_short_token_is_refused_without_showing_it(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN", "guess-me")
        get_settings.cache_clear()
        with pytest.raises(SystemExit, match=r"^DESKARENA_TOKEN: .*16") as ended:
            settings_or_exit()
        assert "guess-me" not in str(ended.value)

    def test_an_empty_token_is_none(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_TOKEN", "")
        assert Settings().token is None

    def test_only_secrets_lie_in_files(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_PORT_FILE", str(tmp_path / "port"))
        assert Settings().port == 8000


class TestVariables:
    @pytest.mark.parametrize(("old", "new"), RENAMED.items())
    def test_an_old_name_is_refused_with_the_new_one(self, old: str, new: str, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv(old, "")
        with raises_fields(RenamedVariable, old=old, new=new):
            get_settings.__wrapped__()

    def test_a_program_that_starts_ends_with_that_sentence(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setenv("DESKARENA_DATA", "/data")
        get_settings.cache_clear()
        with pytest.raises(SystemExit, match=r"^DESKARENA_DATA is now DESKARENA_DATA_DIR"):
            settings_or_exit()

    def test_every_new_name_is_a_setting_and_no_old_one_is(self) -> None:
        assert set(RENAMED.values()) <= known_variables()
        assert RENAMED.keys().isdisjoint(known_variables())

    def test_unknown_variables_are_named(self) -> None:
        names = ["DESKARENA_SLOT", "DESKARENA_SLOTS", "DESKARENA_TOKEN_FILE", "DESKARENA_SERVER", "PATH"]
        (warning,) = unknown_variables(names)
        assert warning.startswith("DESKARENA_SLOT ")
        assert "DESKARENA_SLOTS" in warning

    def test_they_are_logged_at_the_start(
        self, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
    ) -> None:
        monkeypatch.setenv("DESKARENA_PORT_FILE", "/port")
        get_settings.__wrapped__()
        assert [record.args for record in caplog.records] == [tuple(unknown_variables(["DESKARENA_PORT_FILE"]))]

    def test_every_variable_that_the_product_reads_is_known(self) -> None:
        named = {
            name
            for path in tracked_files(ROOT)
            if path.parts[0] in PRODUCT
            for name in VARIABLE.findall((ROOT / path).read_bytes().decode("utf-8", "replace"))
        }
        assert unknown_variables(named - RENAMED.keys()) == []
        assert {name for name in FOREIGN if name not in named} == set()
