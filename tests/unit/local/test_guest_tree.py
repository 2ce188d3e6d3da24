from pathlib import Path

import pytest

from worker.local.guest_tree import prepare


@pytest.fixture
def sources(tmp_path: Path) -> tuple[Path, Path]:
    server, site = tmp_path / "server", tmp_path / "site"
    server.mkdir()
    site.mkdir()
    (server / "session.py").write_text("print('x')\n")
    return server, site


class TestPrepare:
    def test_is_compiled_and_keyed_by_content(self, tmp_path: Path, sources: tuple[Path, Path]) -> None:
        first = prepare(tmp_path / "cache", *sources)
        assert list((first / "guest_server" / "__pycache__").glob("session.*.pyc"))
        assert prepare(tmp_path / "cache", *sources) == first
        (sources[0] / "session.py").write_text("print('y')\n")
        assert prepare(tmp_path / "cache", *sources) != first

    def test_missing_source_names_the_command(self, tmp_path: Path, sources: tuple[Path, Path]) -> None:
        with pytest.raises(FileNotFoundError, match="make setup"):
            prepare(tmp_path / "cache", sources[0], tmp_path / "absent")

    def test_code_that_does_not_compile_is_not_kept(self, tmp_path: Path, sources: tuple[Path, Path]) -> None:
        (sources[0] / "session.py").write_text("def\n")
        with pytest.raises(OSError, match="does not compile"):
            prepare(tmp_path / "cache", *sources)
        assert list((tmp_path / "cache").iterdir()) == []
