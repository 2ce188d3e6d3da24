import os
import pwd
from pathlib import Path

import pytest

from backend.cli.embedded.identity import FIRST_ID, ID_COUNT, named_identity, server_identity

AS_ROOT = pytest.mark.skipif(os.geteuid() != 0, reason="needs root: an ordinary user's servers run as that user")


class TestServerIdentity:
    @pytest.mark.skipif(os.geteuid() == 0, reason="needs an ordinary user")
    def test_ordinary_user_is_not_changed(self, tmp_path: Path) -> None:
        assert server_identity(tmp_path / "postgres", "postgres") is None

    @AS_ROOT
    def test_root_runs_servers_as_an_unused_user_id(self, tmp_path: Path) -> None:
        found = server_identity(tmp_path / "postgres", "postgres")
        assert found is not None
        assert FIRST_ID <= found.uid < FIRST_ID + ID_COUNT
        assert found.uid not in {entry.pw_uid for entry in pwd.getpwall()}

    @AS_ROOT
    def test_existing_files_decide(self, tmp_path: Path) -> None:
        files = tmp_path / "postgres"
        files.mkdir()
        os.chown(files, 12345, 54321)
        found = server_identity(files, "postgres")
        assert found is not None
        assert (found.uid, found.gid) == (12345, 54321)

    @AS_ROOT
    def test_two_servers_of_a_folder_are_two_users(self, tmp_path: Path) -> None:
        # Even and odd ids, for any folder: a hash alone makes them one user once in some hundred folders.
        folders = [tmp_path / str(number) for number in range(20)]
        postgres = {found.uid % 2 for folder in folders if (found := server_identity(folder, "postgres"))}
        broker = {found.uid % 2 for folder in folders if (found := server_identity(folder, "broker"))}
        assert postgres
        assert broker
        assert postgres.isdisjoint(broker)


class TestNamedIdentity:
    def test_is_never_root_and_has_a_name(self) -> None:
        found = named_identity()
        assert found.uid != 0
        assert pwd.getpwuid(found.uid).pw_name
