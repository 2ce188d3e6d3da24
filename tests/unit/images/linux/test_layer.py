import tarfile
from pathlib import Path

import pytest

from worker.images.linux.layer import digest, write_layer
from worker.images.linux.options import BuildSources

EPOCH = 1_700_000_000


@pytest.fixture
def sources(tmp_path: Path) -> BuildSources:
    for name in ("linux/root/etc/systemd", "server", "site/pkg", "home/.config/x", "scripts"):
        (tmp_path / name).mkdir(parents=True)
    (tmp_path / "linux/root/etc/systemd/a.service").write_text("[Unit]\n")
    (tmp_path / "server/app.py").write_text("x = 1\n")
    (tmp_path / "server/__pycache__").mkdir()
    (tmp_path / "server/__pycache__/app.pyc").write_text("not this\n")
    (tmp_path / "server/tool").write_text("#!/bin/sh\n")
    (tmp_path / "server/tool").chmod(0o700)
    (tmp_path / "site/pkg/__init__.py").write_text("")
    (tmp_path / "home/.config/x/settings").write_text("a=b\n")
    folders = {name: tmp_path / name for name in ("scripts", "linux", "server", "site", "home")}
    return BuildSources(**folders)


def listed(archive: Path) -> dict[str, tuple[int, int, float]]:
    with tarfile.open(archive) as tar:
        return {each.name: (each.mode, each.uid, each.mtime) for each in tar}


class TestWriteLayer:
    def test_everything_lies_where_the_machine_looks_for_it(self, sources: BuildSources, tmp_path: Path) -> None:
        write_layer(tmp_path / "layer.tar", sources, EPOCH)
        result = listed(tmp_path / "layer.tar")
        assert result["./etc/systemd/a.service"] == (0o644, 0, EPOCH)
        assert result["./opt/guest/guest_server/tool"] == (0o755, 0, EPOCH)
        assert result["./opt/guest/site/pkg/__init__.py"] == (0o644, 0, EPOCH)
        assert result["./home/user/.config/x/settings"] == (0o644, 1000, EPOCH)
        assert result["./home/user/.config"] == (0o755, 1000, EPOCH)
        assert "./etc/timezone" in result
        assert result["./opt/guest/session.bpf"] == (0o644, 0, EPOCH)
        assert not [name for name in result if "__pycache__" in name]

    def test_folders_come_before_what_lies_in_them(self, sources: BuildSources, tmp_path: Path) -> None:
        write_layer(tmp_path / "layer.tar", sources, EPOCH)
        names = list(listed(tmp_path / "layer.tar"))
        assert names.index("./home/user/.config") < names.index("./home/user/.config/x/settings")
        assert len(names) == len(set(names))

    def test_the_same_content_gives_the_same_bytes(self, sources: BuildSources, tmp_path: Path) -> None:
        for name in ("one", "two"):
            write_layer(tmp_path / name, sources, EPOCH)
            (sources.server / "app.py").touch()
        assert (tmp_path / "one").read_bytes() == (tmp_path / "two").read_bytes()

    def test_a_missing_source_is_named(self, sources: BuildSources, tmp_path: Path) -> None:
        gone = sources.model_copy(update={"site": tmp_path / "none"})
        with pytest.raises(FileNotFoundError, match="make setup"):
            write_layer(tmp_path / "layer.tar", gone, EPOCH)


class TestDigest:
    def test_content_names_and_rights_count(self, sources: BuildSources) -> None:
        before = digest(sources.server)
        (sources.server / "__pycache__/app.pyc").write_text("other")
        assert digest(sources.server) == before
        (sources.server / "app.py").chmod(0o755)
        assert digest(sources.server) != before
