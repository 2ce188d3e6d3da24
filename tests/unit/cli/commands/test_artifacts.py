from collections.abc import Iterator
from pathlib import Path

import pytest
import typer

from backend.cli.commands.artifacts import Store, copy_artifacts
from backend.cli.doctor import store as doctor
from backend.cli.doctor.check import CheckState
from backend.cli.errors import CliError
from backend.cli.output import Output
from backend.config import get_settings
from backend.services.artifacts.stores.folder import FolderStore
from tests.error_codes import raises_code
from tests.fakes.s3 import place_at, s3_server


@pytest.fixture(scope="module")
def endpoint() -> Iterator[str]:
    with s3_server() as address:
        yield address


@pytest.fixture(autouse=True)
def _bucket(endpoint: str, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    place = place_at(endpoint)
    for name, value in (
        ("BUCKET", place.bucket),
        ("ENDPOINT", endpoint),
        ("ACCESS_KEY", place.access_key),
        ("SECRET_KEY", place.secret_key),
    ):
        monkeypatch.setenv(f"DESKARENA_S3_{name}", value)
    get_settings.cache_clear()
    yield
    get_settings.cache_clear()


@pytest.fixture
def store(tmp_path: Path) -> FolderStore:
    return FolderStore(tmp_path / "artifacts")


class TestCopyArtifacts:
    def test_copy_roundtrip(self, store: FolderStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
        names = {store.put(b"%d" % number, "a/b") for number in range(12)}
        copy_artifacts(to=Store.BUCKET, data=tmp_path)
        copy_artifacts(to=Store.BUCKET, data=tmp_path)
        other = tmp_path / "other"
        copy_artifacts(to=Store.FOLDER, data=other)
        assert capsys.readouterr().out.splitlines() == [
            "12 copied, 0 there, 0 not",
            "0 copied, 12 there, 0 not",
            "12 copied, 0 there, 0 not",
        ]
        assert {sha256 for batch in FolderStore(other / "artifacts").old(2**40) for sha256 in batch} == names

    def test_damaged_artifacts_are_reported(
        self, store: FolderStore, tmp_path: Path, capsys: pytest.CaptureFixture[str]
    ) -> None:
        bad = store.put(b"bad", "a/b")
        store.put(b"good", "a/b")
        store.path(bad).write_bytes(b"xxx")
        with pytest.raises(typer.Exit) as caught:
            copy_artifacts(to=Store.BUCKET, data=tmp_path, output=Output.JSONL)
        assert caught.value.exit_code == 3
        told = capsys.readouterr()
        assert told.out == '{"copied": 1, "there": 0, "not_copied": 1}\n'
        assert bad in told.err

    def test_without_a_bucket(self, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.delenv("DESKARENA_S3_BUCKET")
        get_settings.cache_clear()
        with raises_code(CliError, "bucket_not_configured", mentions="DESKARENA_S3_BUCKET") as caught:
            copy_artifacts(data=tmp_path)
        assert caught.value.exit_code == 2


class TestDoctor:
    def test_working_bucket_is_ok(self, tmp_path: Path) -> None:
        found = doctor.store(tmp_path)
        assert found.state is CheckState.OK
        assert "written, read, removed" in found.detail

    def test_a_key_that_is_missing(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("DESKARENA_S3_SECRET_KEY")
        get_settings.cache_clear()
        found = doctor.store(tmp_path)
        assert found.state is CheckState.BROKEN
        assert "one of the two keys" in found.detail

    def test_without_a_bucket(self, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
        monkeypatch.delenv("DESKARENA_S3_BUCKET")
        get_settings.cache_clear()
        assert doctor.store(tmp_path).state is CheckState.OK
