"""The commands `backup`, `restore` and `verify` on a data folder whose service is stopped, and while it runs."""

import shutil
from pathlib import Path

import pytest
import typer

from backend.cli.commands.backup import backup, restore, verify
from backend.cli.embedded.data_dir import DataFolder
from backend.cli.embedded.postgres import start_postgres
from backend.cli.errors import CliError, ExitCode, StackError
from backend.db.migrate import upgrade
from backend.services.artifacts.stores.folder import FolderStore
from tests.error_codes import raises_code
from tests.factories.records import stored, world


def test_a_data_folder_is_backed_up_lost_and_restored(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    data, kept = tmp_path / "data", tmp_path / "backup"
    with raises_code(StackError, "path_not_found"):
        backup(kept, data=data)
    store = FolderStore(data / "artifacts")
    with DataFolder(data) as folder:
        server = start_postgres(data, durable=False, hold_fds=(folder.children_fd,))
        try:
            upgrade(server.url)
            with world(server.url) as made:
                made.benchmark()
                sha256 = made.do(stored, store, b"picture")
            backup(kept, data=data)  # While it runs.
            with raises_code(StackError, "data_folder_in_use"):
                restore(kept, data=data)
        finally:
            server.stop()
    shutil.rmtree(data)
    restore(kept, data=data)
    verify(kept)
    verify(data=data)
    out = capsys.readouterr().out.splitlines()
    assert [line.rpartition("rows, ")[2] for line in out[1:3]] == ["1 artifacts intact, 0 missing, 0 damaged"] * 2
    assert out[3] == "installation verified: 1 artifacts intact, 0 missing, 0 damaged"
    with raises_code(CliError, "database_not_empty"):
        restore(kept, data=data)
    store.path(sha256).unlink()
    with pytest.raises(typer.Exit) as error:
        verify(data=data)
    assert error.value.exit_code == ExitCode.INFRASTRUCTURE
    assert f"missing: {sha256}" in capsys.readouterr().out
