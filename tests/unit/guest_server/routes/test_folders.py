"""Listings of folders that cannot be read, or lead elsewhere."""

import os
from pathlib import Path
from types import SimpleNamespace
from typing import Any, cast

import pytest

from guest_server.protocol.errors import GuestError
from guest_server.protocol.limits import GuestLimits
from guest_server.routes import folders
from guest_server.routes.folders import FolderListing
from tests.error_codes import raises_fields


@pytest.fixture
def home(tmp_path: Path) -> Path:
    """Two folders with a file each."""
    for name in ("mine", "theirs"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "file").touch()
    return tmp_path


def listed(folder: Path, **limits: Any) -> dict[str, Any]:
    """The children by their names."""
    tree = FolderListing(GuestLimits(**limits)).tree(str(folder))
    return {child["name"]: child for child in tree["children"]}


class TestListing:
    def test_unreadable_folder_does_not_hide_the_others(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        scan = os.scandir

        def refusing(path: str) -> Any:
            if path.endswith("theirs"):
                raise PermissionError(13, "Access is denied", path)
            return scan(path)

        monkeypatch.setattr(folders, "os", SimpleNamespace(scandir=refusing))
        result = listed(home)
        assert result["theirs"] == {"type": "directory", "name": "theirs", "children": [], "error": "Access is denied"}
        assert result["mine"]["children"] == [{"type": "file", "name": "file"}]

    def test_a_junction_is_not_followed(self, home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
        """Each user's `Documents` on Windows has three, which nobody may list."""
        monkeypatch.setattr(folders, "is_junction", lambda entry: entry.name == "theirs")
        assert listed(home)["theirs"] == {"type": "directory", "name": "theirs", "children": []}

    def test_too_much_is_refused_and_not_cut(self, home: Path) -> None:
        with raises_fields(GuestError, kind="too_large", mentions="3"):
            listed(home, tree_nodes=3)


class TestIsJunction:
    @pytest.mark.parametrize(("tag", "held"), [(0xA0000003, True), (0xA000000C, False), (0, False)])
    def test_by_its_tag(self, tag: int, *, held: bool) -> None:
        entry = SimpleNamespace(stat=lambda **_: SimpleNamespace(st_reparse_tag=tag))
        assert folders.is_junction(cast("os.DirEntry[str]", entry)) is held
